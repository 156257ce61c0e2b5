package expr

import (
	"strconv"
	"strings"
)

// AppendXML appends the <condition> element as files hold it, each line behind
// indent.
func (c *Condition) AppendXML(dst []byte, indent string) []byte {
	w := conditionWriter{dst: dst}
	w.condition(c, indent)
	return w.dst
}

type conditionWriter struct{ dst []byte }

var textEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#13;")

func (w *conditionWriter) leaf(indent, name, text string) {
	if text == "" {
		w.dst = append(w.dst, indent+"<"+name+"/>\n"...)
		return
	}
	w.dst = append(w.dst, indent+"<"+name+">"+textEscaper.Replace(text)+"</"+name+">\n"...)
}

func yesNo(b bool) string {
	if b {
		return "Y"
	}
	return "N"
}

const indentStep = "  "

func (w *conditionWriter) condition(c *Condition, indent string) {
	in := indent + indentStep
	w.dst = append(w.dst, indent+"<condition>\n"...)
	w.leaf(in, "negated", yesNo(c.Negated))
	if c.Operator != "" {
		w.leaf(in, "operator", string(c.Operator))
	}
	if len(c.Children) == 0 {
		w.atom(c, in)
	} else {
		w.dst = append(w.dst, in+"<conditions>\n"...)
		for _, k := range c.Children {
			w.condition(k, in+indentStep)
		}
		w.dst = append(w.dst, in+"</conditions>\n"...)
	}
	w.dst = append(w.dst, indent+"</condition>\n"...)
}

func (w *conditionWriter) atom(c *Condition, in string) {
	w.leaf(in, "leftvalue", c.Left)
	w.leaf(in, "function", string(c.Function))
	w.leaf(in, "rightvalue", c.Right)
	k := c.Constant
	if k == nil {
		return
	}
	w.dst = append(w.dst, in+"<value>\n"...)
	deep := in + indentStep
	w.leaf(deep, "name", k.Name)
	w.leaf(deep, "type", k.Type.String())
	w.leaf(deep, "text", k.Text)
	w.leaf(deep, "length", strconv.Itoa(k.Length))
	w.leaf(deep, "precision", strconv.Itoa(k.Precision))
	w.leaf(deep, "isnull", yesNo(k.IsNull))
	w.leaf(deep, "mask", k.Mask)
	w.dst = append(w.dst, in+"</value>\n"...)
}
