package relation

import (
	"encoding/json"
	"strconv"

	"sluice/engine/batch"
)

// appendDiff writes what changed: {"changes":[{"field":{"from":…,"to":…}}]}.
func (o *mergedRows) appendDiff(dst []byte, flag mergeFlag, ref, cmp *cursor) []byte {
	dst = append(dst, `{"changes":[`...)
	first := true
	for f := len(o.byKey[0].fields); flag == flagChanged && f < len(o.all[0].fields); f++ {
		if o.env.Semantics.Compare(ref.cols[f], ref.row, cmp.cols[f], cmp.row, false) == 0 {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		field := &o.all[0].fields[f]
		dst = append(dst, '{')
		dst = appendJSONText(dst, field.name)
		dst = append(dst, `:{"from":`...)
		dst = appendJSONValue(dst, field.codec, ref.cols[f], ref.row)
		dst = append(dst, `,"to":`...)
		dst = appendJSONValue(dst, field.codec, cmp.cols[f], cmp.row)
		dst = append(dst, "}}"...)
	}
	return append(dst, "]}"...)
}

func appendJSONText(dst []byte, s string) []byte {
	text, _ := json.Marshal(s) // a string always has JSON
	return append(dst, text...)
}

func appendJSONValue(dst []byte, codec *batch.Codec, c *batch.Column, i int) []byte {
	if c.IsNull(i) {
		return append(dst, "null"...)
	}
	switch c.Type {
	case batch.Integer, batch.Number, batch.BigNumber, batch.JSON:
		text := codec.AppendCompatible(nil, c.Value(i))
		if json.Valid(text) { // NaN is not
			return append(dst, text...)
		}
		return appendJSONText(dst, string(text))
	case batch.Boolean:
		return strconv.AppendBool(dst, c.Bool(i))
	}
	return appendJSONText(dst, string(codec.AppendValue(nil, c.Value(i))))
}
