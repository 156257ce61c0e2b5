package recorder_test

import (
	"errors"
	"testing"

	"sluice/engine/batch"
	"sluice/engine/recorder"
	"sluice/storage"
)

func TestRowsComeBack(t *testing.T) {
	alloc := batch.NewAllocator()
	text := func(name string, values ...string) *batch.Batch {
		b := alloc.Batch(batch.NewSchema(batch.NewField(name, batch.String), batch.NewField("n", batch.Integer)))
		for i, v := range values {
			if v == "" {
				b.Cols[0].AppendNull()
			} else {
				b.Cols[0].AppendString(v)
			}
			b.Cols[1].AppendInt(int64(i))
		}
		b.SetRows(len(values))
		return b
	}
	rows := []*batch.Batch{text("a", "x", "", "y"), text("a", "z"), text("b", "w")}
	set, err := recorder.EncodeRows(rows)
	if err != nil || set.Count != 5 || set.Format != recorder.RowsFormat {
		t.Fatalf("%d rows as %q, %v", set.Count, set.Format, err)
	}
	got, err := recorder.DecodeRows(set, alloc)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, b := range got {
		for i := range b.Rows() {
			v := "null"
			if !b.Cols[0].IsNull(i) {
				v = b.Cols[0].Str(i)
			}
			texts = append(texts, b.Schema.Names()[0]+"="+v)
		}
		b.Release()
	}
	want := []string{"a=x", "a=null", "a=y", "a=z", "b=w"}
	if len(texts) != len(want) {
		t.Fatalf("rows %q, want %q", texts, want)
	}
	for i := range want {
		if texts[i] != want[i] {
			t.Errorf("row %d is %q, want %q", i, texts[i], want[i])
		}
	}
	for name, bad := range map[string]storage.RowSet{
		"cut off":        {Count: set.Count, Format: set.Format, Data: set.Data[:len(set.Data)-3]},
		"a row too many": {Count: 6, Format: set.Format, Data: set.Data},
		"other form":     {Count: 5, Format: "rows/9", Data: set.Data},
	} {
		if _, err := recorder.DecodeRows(bad, alloc); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := recorder.DecodeRows(storage.RowSet{Count: 9}, alloc); !errors.Is(err, recorder.ErrRowsNotKept) {
		t.Errorf("only counted: %v", err)
	}
	for _, b := range rows {
		b.Release()
	}
	if err := alloc.CheckLeaks(); err != nil {
		t.Error(err)
	}
}
