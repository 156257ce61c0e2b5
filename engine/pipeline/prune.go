package pipeline

import "sluice/engine/transform"

// pruneSources tells sources which of their fields are looked at. Nothing is left
// out where rows are sampled or spooled, but what is spooled is converted at once.
func (e *Execution) pruneSources() {
	if e.opts.Sample != nil {
		return
	}
	known := map[*unit][]bool{}
	for _, u := range e.units {
		if c, ok := u.proc.(transform.Converter); ok && u.isSpooled() {
			c.ConvertAll(e.wantedBehind(u, known))
		}
		p, ok := u.proc.(transform.Pruner)
		if !ok {
			continue
		}
		wanted := e.wantedFrom(u, known)
		for _, w := range wanted {
			if !w {
				p.Prune(wanted)
				break
			}
		}
	}
}

// wantedFrom says which fields of a unit's output are looked at downstream.
func (e *Execution) wantedFrom(u *unit, known map[*unit][]bool) []bool {
	if w, ok := known[u]; ok {
		return w
	}
	out := e.wantedBehind(u, known)
	for _, r := range u.routes {
		if r.tap != nil {
			setAll(out)
		}
	}
	known[u] = out
	return out
}

// wantedBehind is wantedFrom for the hops alone, without spools.
func (e *Execution) wantedBehind(u *unit, known map[*unit][]bool) []bool {
	width := 0
	for _, s := range u.schemas {
		width = max(width, s.Len())
	}
	out := make([]bool, width)
	for _, r := range u.routes {
		for _, edge := range r.edges {
			in := e.neededBy(edge, known)
			if in == nil {
				setAll(out)
				break
			}
			for i := range min(len(in), width) {
				out[i] = out[i] || in[i]
			}
		}
	}
	return out
}

// isSpooled says whether the rows of the main output are spooled.
func (u *unit) isSpooled() bool {
	r := u.routes[transform.Main]
	return r != nil && r.tap != nil
}

// neededBy says which fields a hop's target looks at; nil stands for all.
func (e *Execution) neededBy(edge *edge, known map[*unit][]bool) []bool {
	to := edge.to
	user, ok := to.node.Settings.(transform.FieldUser)
	if !ok || to.ports.Inputs[edge.wire.in].Info || to.env.Errors != nil {
		return nil
	}
	return user.Needs(to.links, e.wantedFrom(to, known))
}

func setAll(flags []bool) {
	for i := range flags {
		flags[i] = true
	}
}
