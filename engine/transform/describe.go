package transform

import (
	"reflect"

	"sluice/engine/batch"
)

// Choices lists the values that a setting of KindChoice may have, in the order
// forms show them; nil for other kinds.
func (s *Setting) Choices() []Choice {
	if s.Kind != KindChoice {
		return nil
	}
	if s.typ == trimType {
		var list []Choice
		for t := batch.TrimNone; t <= batch.TrimBoth; t++ {
			list = append(list, Choice{Code: t.String(), Label: t.String()})
		}
		return list
	}
	return reflect.Zero(s.typ).Interface().(Choices).Choices()
}

// Holds is the Go kind of the value behind a setting: of T for an Expr[T], of
// the items for a list, else that of the field itself.
func (s *Setting) Holds() reflect.Kind {
	switch s.Kind {
	case KindExpr:
		// Eval gives (T, error).
		eval, _ := s.typ.MethodByName("Eval")
		return eval.Type.Out(0).Kind()
	case KindList:
		return s.typ.Elem().Kind()
	}
	return s.typ.Kind()
}
