package parquet_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"sluice/engine/batch"
	"sluice/engine/parquet"
)

// smallFile is a file of all types with two row groups, and its rows.
func smallFile(t testing.TB, o parquet.Options) ([]byte, [][]string) {
	t.Helper()
	a := batch.NewAllocator()
	s := allTypes()
	r := rand.New(rand.NewPCG(9, 9))
	o.GroupRows = 20
	list := []*batch.Batch{
		makeBatch(a, r, s, made{rows: 100, nulls: 0.2}),
		makeBatch(a, r, s, made{rows: 15, nulls: 0.2, nanos: true}),
	}
	small := []*batch.Batch{list[0].Slice(0, 25).Dense(), list[1]}
	data := write(t, s, o, small...)[0]
	f, err := parquet.Open(data)
	if err != nil || f.Groups() != 2 {
		t.Fatalf("the file has %d row groups, error %v", f.Groups(), err)
	}
	return data, cells(small...)
}

// tryRead reads a file that may be damaged.
func tryRead(data []byte) ([][]string, *batch.Schema, error) {
	a := batch.NewAllocator()
	f, err := parquet.Open(data)
	if err != nil {
		return nil, nil, err
	}
	var list []*batch.Batch
	for b, err := range f.All(a) {
		if err != nil {
			return nil, nil, err
		}
		list = append(list, b)
	}
	return cells(list...), f.Schema(), nil
}

// One flipped bit anywhere is an error; never a panic, never other rows.
func TestFlippedBits(t *testing.T) {
	for option, o := range everyOption {
		t.Run(option, func(t *testing.T) {
			data, want := smallFile(t, o)
			r := rand.New(rand.NewPCG(11, uint64(len(data))))
			step := 1 // every byte with the default codec, a part with the others
			if option != "snappy" {
				step = 11
			}
			for i := 0; i < len(data); i += step {
				bad := append([]byte(nil), data...)
				bad[i] ^= 1 << r.IntN(8)
				got, s, err := tryRead(bad)
				switch {
				case err == nil:
					if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(s, allTypes()) {
						t.Fatalf("a flipped bit in byte %d of %d changes the rows and nobody notices", i, len(data))
					}
				case !errors.Is(err, parquet.ErrCorrupt) && !errors.Is(err, parquet.ErrForeign) && !errors.Is(err, parquet.ErrVersion):
					t.Fatalf("a flipped bit in byte %d gives an error of no kind: %v", i, err)
				}
			}
		})
	}
}

func TestCutFiles(t *testing.T) {
	data, _ := smallFile(t, parquet.Options{})
	for n := range data {
		if _, _, err := tryRead(data[:n]); !errors.Is(err, parquet.ErrCorrupt) {
			t.Fatalf("the first %d bytes of %d give %v", n, len(data), err)
		}
	}
}

// Bytes that are dropped, doubled or swapped.
func TestMovedBytes(t *testing.T) {
	data, want := smallFile(t, parquet.Options{})
	r := rand.New(rand.NewPCG(13, 13))
	for range 2000 {
		from := r.IntN(len(data) - 64)
		n := 1 + r.IntN(60)
		to := r.IntN(len(data) - 64)
		bad := append([]byte(nil), data...)
		switch r.IntN(3) {
		case 0:
			bad = append(bad[:from], bad[from+n:]...)
		case 1:
			bad = append(append(append([]byte(nil), data[:from+n]...), data[from:from+n]...), data[from+n:]...)
		default:
			copy(bad[to:to+n], data[from:from+n])
		}
		got, _, err := tryRead(bad)
		if err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("moving %d bytes from %d to %d changes the rows and nobody notices", n, from, to)
		}
	}
}

func TestForeignAndNewerFilesAreNamed(t *testing.T) {
	data, _ := smallFile(t, parquet.Options{})
	replace := func(old, with string) []byte {
		out := append([]byte(nil), data...)
		for i := range out {
			if i+len(old) <= len(out) && string(out[i:i+len(old)]) == old {
				copy(out[i:], with)
			}
		}
		return out
	}
	cases := map[string]struct {
		data []byte
		want error
	}{
		"no schema":     {replace("sluice.schema", "others.schema"), parquet.ErrForeign},
		"newer version": {replace("sluice.version\x18\x011", "sluice.version\x18\x012"), parquet.ErrVersion},
		"empty":         {nil, parquet.ErrCorrupt},
		"other format":  {[]byte("id,name\n1,Anna\n2,Bert\n"), parquet.ErrCorrupt},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := parquet.Open(c.data); !errors.Is(err, c.want) {
				t.Errorf("it gives %v", err)
			}
		})
	}
}

// FuzzOpen feeds anything to the reader: it may not panic or ask for memory that
// the bytes cannot fill.
func FuzzOpen(f *testing.F) {
	for _, o := range everyOption {
		data, _ := smallFile(f, o)
		f.Add(data)
	}
	f.Add([]byte("PAR1PAR1\x00\x00\x00\x00PAR1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, _ = tryRead(data)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20+uint64(len(data))*1000 {
			t.Errorf("%d bytes made the reader allocate %d", len(data), used)
		}
	})
}
