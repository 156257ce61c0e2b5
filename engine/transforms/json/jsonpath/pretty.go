package jsonpath

// AppendPretty appends the value as JSON with line ends and two blanks per level,
// in the form Hop's enhanced output uses: arrays stay on the line, members do
// not. depth is the level the value stands at, from 0.
func (n *Node) AppendPretty(dst []byte, depth int) []byte {
	switch {
	case n.Kind == Array && len(n.Items) == 0:
		return append(dst, "[ ]"...)
	case n.Kind == Object && len(n.Items) == 0:
		return append(dst, "{ }"...)
	case n.Kind == Array:
		dst = append(dst, "[ "...)
		for i := range n.Items {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = n.Items[i].AppendPretty(dst, depth)
		}
		return append(dst, " ]"...)
	case n.Kind != Object:
		return n.AppendJSON(dst)
	}
	dst = append(dst, '{')
	for i := range n.Items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendIndent(dst, depth+1)
		dst = append(AppendQuoted(dst, n.Names[i]), " : "...)
		dst = n.Items[i].AppendPretty(dst, depth+1)
	}
	return append(appendIndent(dst, depth), '}')
}

func appendIndent(dst []byte, depth int) []byte {
	dst = append(dst, '\n')
	for range depth {
		dst = append(dst, "  "...)
	}
	return dst
}
