package transform

import (
	"reflect"
	"strconv"
	"strings"
)

// Missing checks what tags can say about settings: required ones that are empty,
// numbers out of their range. Numbers given as variables are not looked at.
func (d Definition) Missing(s Settings) ([]Problem, error) {
	list, err := d.Settings()
	if err != nil {
		return nil, err
	}
	var c presence
	c.group(reflect.ValueOf(s).Elem(), list, "")
	return c.problems, nil
}

type presence struct{ problems []Problem }

func (c *presence) group(v reflect.Value, list []Setting, prefix string) {
	for i := range list {
		s := &list[i]
		f := v.FieldByIndex(s.index)
		key := prefix + s.Key()
		switch s.Kind {
		case KindGroup:
			c.group(f, s.Items, key+">")
			continue
		case KindTable:
			for n := range f.Len() {
				c.group(f.Index(n), s.Items, key+"["+strconv.Itoa(n+1)+"]>")
			}
		}
		if s.Required && isEmpty(f) {
			c.problems = append(c.problems, Errorf(key, "%s is empty", s.Title()))
		}
		c.bounds(s, f, key)
	}
}

func isEmpty(v reflect.Value) bool {
	if v.Kind() == reflect.Slice {
		return v.Len() == 0
	}
	return v.IsZero()
}

func (c *presence) bounds(s *Setting, v reflect.Value, key string) {
	var text string
	switch s.Kind {
	case KindExpr:
		text = v.Field(0).String()
	case KindNumber:
		if v.Kind() == reflect.Float64 {
			text = strconv.FormatFloat(v.Float(), 'g', -1, 64)
		} else {
			text = strconv.FormatInt(v.Int(), 10)
		}
	default:
		return
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return
	}
	if low, err := strconv.ParseFloat(s.Min, 64); err == nil && n < low {
		c.problems = append(c.problems, Errorf(key, "%s is %s, below its least value %s", s.Title(), text, s.Min))
	}
	if high, err := strconv.ParseFloat(s.Max, 64); err == nil && n > high {
		c.problems = append(c.problems, Errorf(key, "%s is %s, above its greatest value %s", s.Title(), text, s.Max))
	}
}
