package hopxml_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"sluice/engine/hopxml"
)

var fuzzSeeds = []string{
	samplePipeline,
	"\ufeff<!-- c -->\n<?xml version='1.0'?>\r\n<p a='1'>\r\n\t<b/> <!-- x --><c>1<![CDATA[2]]>3</c>\r\n</p>\r\n",
	"<p>text<a/>more <b> </b>&#10;&lt;</p><?end?>",
	"<workflow><actions><action><name>a</name></action></actions><hops/></workflow>",
	"<?xml version='1.0' encoding='ISO-8859-1'?><p>\xe9</p>",
}

func FuzzParse(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := hopxml.Parse("f.hpl", bytes.Clone(data))
		if err != nil {
			var syntax *hopxml.SyntaxError
			if !errors.As(err, &syntax) || syntax.Line < 1 || syntax.Column < 1 || syntax.Hint == "" {
				t.Fatalf("error without a place or a hint: %v", err)
			}
			return
		}
		if !bytes.Equal(d.Bytes(), data) {
			t.Fatalf("read %q, gives %q", data, d.Bytes())
		}
		_, pipelineErr := d.Pipeline()
		_, workflowErr := d.Workflow()
		if pipelineErr == nil && workflowErr == nil {
			t.Fatal("both pipeline and workflow")
		}
		if d.ReadOnly() {
			return
		}
		// spliced instead of copied: a change and its opposite
		root := d.Root().ID()
		changed, err := d.Apply(hopxml.Insert(root, hopxml.AtEnd(), hopxml.Leaf("zz", "")))
		if err != nil {
			if !errors.Is(err, hopxml.ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		reparsed(t, changed)
	})
}

// FuzzEdit runs a program of edits on a document: each gives a document that
// reads back as it is in memory, and leaves the earlier one alone.
func FuzzEdit(f *testing.F) {
	for i, s := range fuzzSeeds {
		f.Add([]byte(s), []byte(strings.Repeat("\x00\x01\x02\x03\x04\x05\x06\x07\x08", i+1)), "a<b>&]]>\r\n\x00")
	}
	f.Fuzz(func(t *testing.T, data, program []byte, text string) {
		d, err := hopxml.Parse("f.hpl", data)
		if err != nil || d.ReadOnly() {
			return
		}
		const longestProgram = 64
		program = program[:min(len(program), longestProgram)]
		for len(program) >= 3 {
			before := d.Bytes()
			var all []*hopxml.Element
			walk(d.Root(), func(e *hopxml.Element) { all = append(all, e) })
			if len(all) > 5000 {
				return // copies of copies
			}
			x, y := all[int(program[1])%len(all)], all[int(program[2])%len(all)]
			op := program[0] % 9
			next, err := d.Apply(fuzzEdit(op, x, y, text))
			program = program[3:]
			if !bytes.Equal(d.Bytes(), before) {
				t.Fatalf("edit %d changed the earlier document", op)
			}
			if err != nil {
				if !errors.Is(err, hopxml.ErrInvalid) && !errors.Is(err, hopxml.ErrNotFound) {
					t.Fatal(err)
				}
				continue
			}
			reparsed(t, next)
			d = next
		}
	})
}

func fuzzEdit(op byte, x, y *hopxml.Element, text string) hopxml.Edit {
	switch op {
	case 0:
		return hopxml.SetText(x.ID(), text)
	case 1:
		return hopxml.Insert(x.ID(), hopxml.Canonical(), hopxml.Branch("name", hopxml.Leaf("x", text)))
	case 2:
		return hopxml.Remove(x.ID())
	case 3:
		return hopxml.Move(x.ID(), y.ID(), hopxml.AtEnd())
	case 4:
		return hopxml.Copy(x.ID(), y.ID(), hopxml.InOrder("a", "*", "b"))
	case 5:
		return hopxml.Replace(x.ID(), hopxml.From(y))
	case 6:
		return hopxml.RenameNode(x.ID(), text)
	case 7:
		return hopxml.SetAttribute(x.ID(), "g", "k", text)
	default:
		return hopxml.RemoveNode(x.ID())
	}
}

func BenchmarkParse(b *testing.B) {
	one := samplePipeline[strings.Index(samplePipeline, "  <transform>"):strings.Index(samplePipeline, "  <transform_error")]
	data := []byte("<pipeline>\n" + strings.Repeat(one, 5000) + "</pipeline>\n")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := hopxml.Parse("b.hpl", data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMoveNodeAmongMany(b *testing.B) {
	one := samplePipeline[strings.Index(samplePipeline, "  <transform>"):strings.Index(samplePipeline, "  <transform_error")]
	d, err := hopxml.Parse("b.hpl", []byte("<pipeline>\n"+strings.Repeat(one, 1000)+"</pipeline>\n"))
	if err != nil {
		b.Fatal(err)
	}
	last := d.Root().Elements()
	id := last[len(last)-1].ID()
	for x := 0; b.Loop(); x++ {
		if d, err = d.Apply(hopxml.MoveNode(id, x, x)); err != nil {
			b.Fatal(err)
		}
	}
}
