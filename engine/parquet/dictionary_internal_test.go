package parquet

import (
	"bytes"
	"fmt"
	"testing"
)

// Texts of every length, most of them met again, get the numbers that a plain map
// gives them; after a truncation the forgotten ones begin anew.
func TestDictionaryNumbers(t *testing.T) {
	d := newDictionary()
	want := map[string]uint32{}
	var data []byte
	var texts [][2]int32
	for i := range 3000 {
		text := bytes.Repeat([]byte(fmt.Sprint(i%700)), i%11)
		if i%5 == 0 {
			text = append(text, 0)
		}
		texts = append(texts, [2]int32{int32(len(data)), int32(len(data) + len(text))})
		data = append(data, text...)
	}
	check := func() {
		for _, at := range texts {
			text := string(data[at[0]:at[1]])
			number, ok := d.addAt(data, at[0], at[1])
			if !ok {
				t.Fatalf("%q finds no room", text)
			}
			if _, known := want[text]; !known {
				want[text] = uint32(len(want))
			}
			if number != want[text] || string(d.value(int(number))) != text {
				t.Fatalf("%q has number %d with value %q, want number %d", text, number, d.value(int(number)), want[text])
			}
		}
	}
	check()
	const kept = 5
	d.truncate(kept)
	for text, number := range want {
		if number >= kept {
			delete(want, text)
		}
	}
	// In another order, so that remembered numbers would show.
	for i, j := 0, len(texts)-1; i < j; i, j = i+1, j-1 {
		texts[i], texts[j] = texts[j], texts[i]
	}
	check()
}
