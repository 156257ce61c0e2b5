package files_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/golang/snappy"

	"sluice/engine/files"
)

func TestCompressionsReadBackWhatTheyWrote(t *testing.T) {
	text := strings.Repeat("a line of text, again and again\n", 5000)
	for _, c := range files.Compressions() {
		t.Run(string(c), func(t *testing.T) {
			var packed bytes.Buffer
			w, err := c.Writer(&packed, "in.csv")
			if err != nil {
				t.Fatal(err)
			}
			for rest := text; rest != ""; {
				n := min(len(rest), 777)
				if _, err := io.WriteString(w, rest[:n]); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if c != files.Uncompressed && packed.Len() > len(text)/10 {
				t.Errorf("%d bytes are packed into %d", len(text), packed.Len())
			}
			r, err := c.Reader(&packed)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if err != nil || string(got) != text {
				t.Errorf("read %d bytes, want %d: %v", len(got), len(text), err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSnappyReadsTheFramingFormatToo(t *testing.T) {
	var packed bytes.Buffer
	w := snappy.NewBufferedWriter(&packed)
	if _, err := io.WriteString(w, "framed"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := files.Snappy.Reader(&packed)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || string(got) != "framed" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestDamagedStreamsAreErrors(t *testing.T) {
	for _, c := range files.Compressions()[1:] {
		r, err := c.Reader(strings.NewReader("this is no packed stream at all"))
		if err == nil {
			_, err = io.ReadAll(r)
		}
		if err == nil {
			t.Errorf("%s reads plain text", c)
		}
	}
}

func TestUnknownCompressionNamesTheKnownOnes(t *testing.T) {
	if c, err := files.ParseCompression("gzip"); c != files.GZip || err != nil {
		t.Error(c, err)
	}
	if _, err := files.ParseCompression("rar"); err == nil || !strings.Contains(err.Error(), "GZip") {
		t.Error(err)
	}
}
