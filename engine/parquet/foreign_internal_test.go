package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// What arrow-go cannot write.

func TestLZ4Frames(t *testing.T) {
	// Four literals, a copy of twelve from four back, two literals.
	block := []byte{0x48, 'a', 'b', 'c', 'd', 4, 0, 0x20, 'e', 'f'}
	const text = "abcdabcdabcdabcdef"
	frame := func(raw int, p []byte) []byte {
		head := binary.BigEndian.AppendUint32(nil, uint32(raw))
		return append(binary.BigEndian.AppendUint32(head, uint32(len(p))), p...)
	}
	// 300 times the same byte: the lengths take more bytes.
	long := []byte{0x1f, 'x', 1, 0, 255, 20, 0x50, 'x', 'x', 'x', 'x', 'x'}
	cases := map[string]struct {
		codec int32
		p     []byte
		want  string
	}{
		"raw":              {codecLZ4Raw, block, text},
		"long":             {codecLZ4Raw, long, strings.Repeat("x", 300)},
		"frames":           {codecLZ4, append(frame(18, block), frame(18, block)...), text + text},
		"raw as frames":    {codecLZ4, block, text},
		"copy from before": {codecLZ4Raw, []byte{0x10, 'a', 2, 0}, ""},
		"cut":              {codecLZ4Raw, block[:8], ""},
		"too long":         {codecLZ4Raw, append(slices.Clone(block), 0x10, 'x'), ""},
		"LZO":              {codecLZO, block, ""},
		"unknown":          {9, block, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			raw := max(len(c.want), 1)
			if c.want == "" {
				raw = len(text)
			}
			got, err := decompress(c.codec, nil, c.p, raw)
			if c.want == "" {
				if err == nil {
					t.Errorf("got %q", got)
				}
				return
			}
			if err != nil || string(got) != c.want {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// Levels as they were packed before run lengths: the first bit is the highest.
func TestBitPackedLevels(t *testing.T) {
	l := Leaf{Physical: Int32, level: 2}
	r := &ColumnReader{leaf: &l, left: 5, levels: hybrid{width: 2}}
	r.packed = append([]byte{0b10_01_10_00, 0b10_000000}, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0)
	r.rows = 5
	if err := r.openPage(&foreignPage{rows: 5, raw: int64(len(r.packed)), levels: encBitPacked}); err != nil {
		t.Fatal(err)
	}
	var valid []bool
	var ints []int64
	for {
		v, err := r.Next(2)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		valid, ints = append(valid, v.Valid...), append(ints, v.Ints...)
	}
	if !slices.Equal(valid, []bool{true, false, true, false, true}) || !slices.Equal(ints, []int64{1, 2, 3}) {
		t.Errorf("got %v, %v", valid, ints)
	}
}

// Prefixes of byte arrays of a fixed length.
func TestFixedPrefixes(t *testing.T) {
	page := func(prefixes, tails []int64, text string) []byte {
		return append(appendDelta(appendDelta(nil, prefixes), tails), text...)
	}
	l := Leaf{Physical: Fixed, Length: 3}
	cases := map[string]struct {
		p    []byte
		want string
	}{
		"right":             {page([]int64{0, 2, 0, 3}, []int64{3, 1, 3, 0}, "abccxyz"), "abc abc xyz xyz"},
		"another length":    {page([]int64{0, 2, 0, 3}, []int64{3, 2, 3, 0}, "abccdxyz"), ""},
		"prefix too long":   {page([]int64{1, 2, 0, 3}, []int64{2, 1, 3, 0}, "abccxyz"), ""},
		"prefix below zero": {page([]int64{0, -1, 0, 3}, []int64{3, 4, 3, 0}, "abcabcdxyz"), ""},
		"bytes missing":     {page([]int64{0, 2, 0, 3}, []int64{3, 1, 3, 0}, "abccx"), ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			in, err := l.decoder(encDeltaBytes, c.p, nil)
			if err != nil {
				t.Fatal(err)
			}
			var all [][]byte
			ok := true
			for range 4 {
				var v Values
				ok = ok && in.read(&v, 1)
				for _, b := range v.Bytes {
					all = append(all, bytes.Clone(b))
				}
			}
			if got := string(bytes.Join(all, []byte(" "))); ok != (c.want != "") || ok && got != c.want {
				t.Errorf("got %q, %v", got, ok)
			}
		})
	}
}

// The older of the two ways to state what a column holds.
func TestConvertedTypes(t *testing.T) {
	cases := map[string]struct {
		physical, converted int32
		want                Leaf
	}{
		"text":             {physBytes, convUTF8, Leaf{Meaning: Text}},
		"enum":             {physBytes, convEnum, Leaf{Meaning: Enum}},
		"decimal":          {physInt32, convDecimal, Leaf{Meaning: Decimal}},
		"day":              {physInt32, convDate, Leaf{Meaning: Day}},
		"clock, millis":    {physInt32, convTimeMillis, Leaf{Meaning: Clock, UTC: true}},
		"clock, micros":    {physInt64, convTimeMicros, Leaf{Meaning: Clock, Unit: Micros, UTC: true}},
		"moment, millis":   {physInt64, convTimestampMillis, Leaf{Meaning: Moment, UTC: true}},
		"moment, micros":   {physInt64, convTimestampMicros, Leaf{Meaning: Moment, Unit: Micros, UTC: true}},
		"byte, no sign":    {physInt32, convUint8, Leaf{Meaning: Whole, Bits: 8}},
		"64 bits, no sign": {physInt64, 14, Leaf{Meaning: Whole, Bits: 64}},
		"byte":             {physInt32, convInt8, Leaf{Meaning: Whole, Bits: 8, Signed: true}},
		"64 bits":          {physInt64, convInt64, Leaf{Meaning: Whole, Bits: 64, Signed: true}},
		"json":             {physBytes, convJSON, Leaf{Meaning: JSON}},
		"interval":         {physFixed, 21, Leaf{Meaning: Other}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := &thriftWriter{}
			w.begin()
			w.i32(1, c.physical)
			w.i32(2, 12)
			w.i32(3, optionalField)
			w.text(4, "c")
			w.i32(6, c.converted)
			w.i32(7, 3)
			w.end()
			e := readElement(&thriftReader{buf: w.buf})
			got, err := leavesOf([]element{e})
			if err != nil {
				t.Fatal(err)
			}
			c.want.Name, c.want.Path, c.want.Physical, c.want.level = "c", "c", Physical(c.physical), 1
			c.want.Length, c.want.Scale = 12, 3
			if got[0] != c.want {
				t.Errorf("got %+v, want %+v", got[0], c.want)
			}
		})
	}
}

func TestSchemaDamage(t *testing.T) {
	leaf := element{name: "c", physical: physInt32, converted: -1}
	group := func(children int32) element {
		return element{name: "g", physical: -1, converted: -1, children: children}
	}
	deep := slices.Repeat([]element{group(1)}, 1000)
	cases := map[string][]element{
		"too few children":    {group(2), leaf},
		"too deep":            append(deep, leaf),
		"type":                {{name: "c", physical: 8, converted: -1}},
		"fixed without bytes": {{name: "c", physical: physFixed, converted: -1}},
	}
	for name, list := range cases {
		if got, err := leavesOf(list); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Runs that a reader takes in pieces that cross the groups of eight.
func TestHybridInPieces(t *testing.T) {
	for width := uint(0); width <= 32; width++ {
		want := make([]uint32, 100)
		for i := range want {
			want[i] = uint32(uint64(i) * 2654435761 >> 3 & (1<<width - 1))
		}
		p := appendIndexes(nil, want, width)
		if width == 0 {
			p = binary.AppendUvarint(nil, uint64(len(want))<<1)
		}
		h := hybrid{p: p, width: width}
		var got []uint32
		for n := 1; len(got) < len(want); n = n%7 + 1 {
			dst := make([]uint32, min(n, len(want)-len(got)))
			if !h.read(dst) {
				t.Fatalf("width %d: %d values", width, len(got))
			}
			got = append(got, dst...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("width %d: got %v, want %v", width, got, want)
		}
	}
}

func TestEncryptedFileIsNamed(t *testing.T) {
	data := append([]byte("PARE"), bytes.Repeat([]byte{0}, 20)...)
	data = append(data, "PARE"...)
	_, err := OpenForeign(bytes.NewReader(data), int64(len(data)))
	if err == nil || !strings.Contains(fmt.Sprint(err), "encrypted") {
		t.Errorf("got %v", err)
	}
}
