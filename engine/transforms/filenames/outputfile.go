package filenames

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
	xtransform "golang.org/x/text/transform"

	"sluice/engine/files"
	"sluice/engine/transform"
)

// Charset gives the encoding of an IANA or Java name; nil for UTF-8 and for an
// empty name.
func Charset(name string) (encoding.Encoding, error) {
	key := strings.ToLower(strings.TrimSpace(name))
	switch key {
	case "", "utf-8", "utf8":
		return nil, nil
	case "utf-16":
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM), nil
	}
	for _, candidate := range []string{key, strings.ReplaceAll(key, "_", "-"), strings.Replace(key, "cp", "windows-", 1), strings.Replace(key, "iso8859", "iso-8859", 1)} {
		if e, err := ianaindex.IANA.Encoding(candidate); err == nil && e != nil {
			return e, nil
		}
	}
	return nil, fmt.Errorf("encoding %q is not known; use a name such as UTF-8, ISO-8859-1 or windows-1252", name)
}

// OutputOptions say how an output file is made.
type OutputOptions struct {
	Append      bool
	Parents     bool // make missing folders
	AddToResult bool
	Encoding    encoding.Encoding // nil: UTF-8
	Comment     string            // of the result file
}

// Output is a text file that is being written. Characters that its encoding lacks
// become question marks. One of Commit and Abort ends it.
type Output struct {
	Path string

	env     *transform.Env
	options OutputOptions
	file    files.Writer
	buffer  *bufio.Writer
	encoder *xtransform.Writer
}

// CreateOutput starts a file.
func CreateOutput(ctx context.Context, env *transform.Env, path string, o OutputOptions) (*Output, error) {
	w, err := env.Files.Create(ctx, path, files.CreateOptions{Append: o.Append, Parents: o.Parents})
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	out := &Output{Path: path, env: env, options: o, file: w, buffer: bufio.NewWriterSize(w, 64<<10)}
	if o.Encoding != nil {
		out.encoder = xtransform.NewWriter(out.buffer, encoding.ReplaceUnsupported(o.Encoding.NewEncoder()))
	}
	return out, nil
}

// Write takes UTF-8.
func (o *Output) Write(p []byte) (int, error) {
	var w io.Writer = o.buffer
	if o.encoder != nil {
		w = o.encoder
	}
	n, err := w.Write(p)
	if err != nil {
		err = fmt.Errorf("write %s: %w", o.Path, err)
	}
	return n, err
}

// Commit makes the file visible and adds it to the result if that is wanted.
func (o *Output) Commit() error {
	var err error
	if o.encoder != nil {
		err = o.encoder.Close()
	}
	if e := o.buffer.Flush(); err == nil {
		err = e
	}
	if err != nil {
		_ = o.file.Abort() // the first error says more
		return fmt.Errorf("write %s: %w", o.Path, err)
	}
	if err := o.file.Commit(); err != nil {
		return fmt.Errorf("complete %s: %w", o.Path, err)
	}
	if o.options.AddToResult {
		o.env.Results.AddFile(transform.ResultFile{
			Path: o.Path, Type: "GENERAL", Origin: o.env.Transform, Parent: o.env.Pipeline.Name,
			Comment: o.options.Comment, Timestamp: o.env.Now(),
		})
	}
	return nil
}

// Abort leaves what was there before.
func (o *Output) Abort() error { return o.file.Abort() }
