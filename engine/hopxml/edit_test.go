package hopxml_test

import (
	"errors"
	"strings"
	"testing"

	"sluice/engine/hopxml"
)

// at finds an element by child names from the root.
func at(t testing.TB, d *hopxml.Document, path ...string) *hopxml.Element {
	t.Helper()
	e := d.Root()
	for _, name := range path {
		if e = e.Child(name); e == nil {
			t.Fatalf("no <%s>", name)
		}
	}
	return e
}

func id(t testing.TB, d *hopxml.Document, path ...string) hopxml.ID {
	t.Helper()
	return at(t, d, path...).ID()
}

func TestEdits(t *testing.T) {
	type doc = *hopxml.Document
	leaf, branch := hopxml.Leaf, hopxml.Branch
	for name, c := range map[string]struct {
		in   string
		edit func(t *testing.T, d doc) hopxml.Edit
		want string
	}{
		"set text": {
			"<p>\n  <a>1</a> <!-- x -->\n</p>",
			func(t *testing.T, d doc) hopxml.Edit { return hopxml.SetText(id(t, d, "a"), "<&>\"'") },
			"<p>\n  <a>&lt;&amp;>\"'</a> <!-- x -->\n</p>",
		},
		"set text that XML cannot hold": {
			"<p><a>1</a></p>",
			func(t *testing.T, d doc) hopxml.Edit {
				return hopxml.SetText(id(t, d, "a"), "\x00a\x01\ufffe\xff]]>\ufffd")
			},
			"<p><a> a   ]]&gt;\ufffd</a></p>",
		},
		"set text with line ends": {
			"<p><a>1</a></p>\n",
			func(t *testing.T, d doc) hopxml.Edit { return hopxml.SetText(id(t, d, "a"), "x\r\ny\nz\r\t") },
			"<p><a>x&#13;\ny\nz&#13;\t</a></p>\n",
		},
		"set text with line ends, CRLF": {
			"<p>\r\n<a>1</a></p>\r\n",
			func(t *testing.T, d doc) hopxml.Edit { return hopxml.SetText(id(t, d, "a"), "x\ny") },
			"<p>\r\n<a>x\r\ny</a></p>\r\n",
		},
		"set the same text in another spelling": {
			"<p><a>&#60;&gt;&#x41;</a></p>",
			func(t *testing.T, d doc) hopxml.Edit { return hopxml.SetText(id(t, d, "a"), "<>A") },
			"<p><a>&#60;&gt;&#x41;</a></p>",
		},
		"set text of <x/>": {
			"<p><a/><b c='1' /></p>",
			func(t *testing.T, d doc) hopxml.Edit {
				return hopxml.Join(hopxml.SetText(id(t, d, "a"), "1"), hopxml.SetText(id(t, d, "b"), "2"))
			},
			"<p><a>1</a><b c='1'>2</b></p>",
		},
		"set no text": {
			"<p><a b='1'>1</a><c></c></p>",
			func(t *testing.T, d doc) hopxml.Edit {
				return hopxml.Join(hopxml.SetText(id(t, d, "a"), ""), hopxml.SetText(id(t, d, "c"), ""))
			},
			"<p><a b='1'/><c></c></p>",
		},
		"set text beside a comment": {
			"<p><a>1<!-- c -->2</a><b><!-- d --></b></p>",
			func(t *testing.T, d doc) hopxml.Edit {
				return hopxml.Join(hopxml.SetText(id(t, d, "a"), "9"), hopxml.SetText(id(t, d, "b"), "8"))
			},
			"<p><a>9<!-- c -->2</a><b>8<!-- d --></b></p>",
		},
		"set no text beside a comment": {
			"<p><a>1<!-- c -->2</a></p>",
			func(t *testing.T, d doc) hopxml.Edit { return hopxml.SetText(id(t, d, "a"), "") },
			"<p><a><!-- c --></a></p>",
		},
		"set text in place of CDATA": {
			"<p><a><![CDATA[1]]></a></p>",
			func(t *testing.T, d doc) hopxml.Edit { return hopxml.SetText(id(t, d, "a"), "<") },
			"<p><a>&lt;</a></p>",
		},
		"insert at the end": {
			"<p>\n  <a>1</a>\n</p>\n",
			func(t *testing.T, d doc) hopxml.Edit {
				return hopxml.Insert(id(t, d), hopxml.AtEnd(), branch("b", leaf("c", "1"), branch("d", leaf("e", ""))))
			},
			"<p>\n  <a>1</a>\n  <b>\n    <c>1</c>\n    <d>\n      <e/>\n    </d>\n  </b>\n</p>\n",
		},
		"insert with tabs and CRLF": {
			"<p>\r\n\t<a>\r\n\t\t<x>1</x>\r\n\t</a>\r\n</p>\r\n",
			func(t *testing.T, d doc) hopxml.Edit {
				return hopxml.Insert(id(t, d), hopxml.AtEnd(), branch("b", leaf("c", "1")))
			},
			"<p>\r\n\t<a>\r\n\t\t<x>1</x>\r\n\t</a>\r\n\t<b>\r\n\t\t<c>1</c>\r\n\t</b>\r\n</p>\r\n",
		},
		"insert into a one-line file": {
			"<p><a>1</a></p>",
			func(t *testing.T, d doc) hopxml.Edit {
				return hopxml.Insert(id(t, d), hopxml.AtEnd(), branch("b", leaf("c", "1")))
			},
			"<p><a>1</a><b><c>1</c></b></p>",
		},
		"insert into <x/>": {
			"<p>\n    <a/>\n</p>",
			func(t *testing.T, d doc) hopxml.Edit {
				return hopxml.Insert(id(t, d, "a"), hopxml.AtEnd(), leaf("b", "1"))
			},
			"<p>\n    <a>\n        <b>1</b>\n    </a>\n</p>",
		},
		"insert into <x/> in a line of others": {
			"<p>\n  <a/><b/>\n</p>",
			func(t *testing.T, d doc) hopxml.Edit {
				return hopxml.Insert(id(t, d, "b"), hopxml.AtEnd(), leaf("c", "1"))
			},
			"<p>\n  <a/><b><c>1</c></b>\n</p>",
		},
		"insert into blank wrapper": {
			"<p>\n  <a>\n    </a>\n</p>",
			func(t *testing.T, d doc) hopxml.Edit {
				return hopxml.Insert(id(t, d, "a"), hopxml.AtEnd(), leaf("b", "1"))
			},
			"<p>\n  <a>\n    <b>1</b>\n    </a>\n</p>",
		},
		"insert into the empty root": {
			head + "<p/>\n",
			func(t *testing.T, d doc) hopxml.Edit { return hopxml.Insert(id(t, d), hopxml.AtEnd(), leaf("b", "1")) },
			head + "<p>\n  <b>1</b>\n</p>\n",
		},
		"insert into a flat file": {
			"<p>\n<a/>\n</p>",
			func(t *testing.T, d doc) hopxml.Edit {
				return hopxml.Insert(id(t, d, "a"), hopxml.AtEnd(), branch("b", leaf("c", "1")))
			},
			"<p>\n<a>\n<b>\n<c>1</c>\n</b>\n</a>\n</p>",
		},
		"insert before, with its comment": {
			"<p>\n  <a/> <!-- of a -->\n\n  <!-- of b -->\n  <b/>\n</p>",
			func(t *testing.T, d doc) hopxml.Edit {
				return hopxml.Insert(id(t, d), hopxml.Before(id(t, d, "b")), leaf("c", ""))
			},
			"<p>\n  <a/> <!-- of a -->\n  <c/>\n\n  <!-- of b -->\n  <b/>\n</p>",
		},
		"insert after, with its comment": {
			"<p>\n  <a/> <!-- of a -->\n  <b/>\n</p>",
			func(t *testing.T, d doc) hopxml.Edit {
				return hopxml.Insert(id(t, d), hopxml.After(id(t, d, "a")), leaf("c", ""))
			},
			"<p>\n  <a/> <!-- of a -->\n  <c/>\n  <b/>\n</p>",
		},
		"insert copies no blank lines": {
			"<p>\n\n  <a/>\n\n</p>",
			func(t *testing.T, d doc) hopxml.Edit { return hopxml.Insert(id(t, d), hopxml.AtEnd(), leaf("c", "")) },
			"<p>\n\n  <a/>\n  <c/>\n\n</p>",
		},
		"insert in order": {
			"<p>\n  <a/>\n  <u/>\n  <d/>\n</p>",
			func(t *testing.T, d doc) hopxml.Edit {
				o := []string{"first", "a", "b", "*", "d", "e"}
				return hopxml.Join(
					hopxml.Insert(id(t, d), hopxml.InOrder(o...), leaf("b", "")),
					hopxml.Insert(id(t, d), hopxml.InOrder(o...), leaf("first", "")),
					hopxml.Insert(id(t, d), hopxml.InOrder(o...), leaf("e", "")),
					hopxml.Insert(id(t, d), hopxml.InOrder(o...), leaf("v", "")),
				)
			},
			"<p>\n  <first/>\n  <a/>\n  <b/>\n  <u/>\n  <v/>\n  <d/>\n  <e/>\n</p>",
		},
		"remove": {
			"<p>\n  <a/>\n\n  <b/>\n  <c/>\n</p>",
			func(t *testing.T, d doc) hopxml.Edit { return hopxml.Remove(id(t, d, "b")) },
			"<p>\n  <a/>\n  <c/>\n</p>",
		},
		"remove keeps comments": {
			"<p>\n  <!-- a --><a/><!-- b -->\n</p>",
			func(t *testing.T, d doc) hopxml.Edit { return hopxml.Remove(id(t, d, "a")) },
			"<p>\n  <!-- a --><!-- b -->\n</p>",
		},
		"remove from text": {
			"<p>one <a/>two</p>",
			func(t *testing.T, d doc) hopxml.Edit { return hopxml.Remove(id(t, d, "a")) },
			"<p>one two</p>",
		},
		"replace": {
			"<p>\n  <a>1</a><b/>\n</p>",
			func(t *testing.T, d doc) hopxml.Edit {
				return hopxml.Replace(id(t, d, "a"), branch("c", leaf("d", "2")))
			},
			"<p>\n  <c>\n    <d>2</d>\n  </c><b/>\n</p>",
		},
		"move among siblings": {
			"<p>\n  <a/>\n\n  <b/>\n  <c/>\n</p>",
			func(t *testing.T, d doc) hopxml.Edit {
				return hopxml.Move(id(t, d, "b"), id(t, d), hopxml.Before(id(t, d, "a")))
			},
			"<p>\n\n  <b/>\n  <a/>\n  <c/>\n</p>",
		},
		"move to itself": {
			"<p><a/><b/></p>",
			func(t *testing.T, d doc) hopxml.Edit {
				return hopxml.Move(id(t, d, "b"), id(t, d), hopxml.After(id(t, d, "b")))
			},
			"<p><a/><b/></p>",
		},
		"move deeper": {
			"<p>\n  <a>\n    <x>1\n  2</x>\n  </a>\n  <b>\n    <c/>\n  </b>\n</p>",
			func(t *testing.T, d doc) hopxml.Edit {
				return hopxml.Move(id(t, d, "a"), id(t, d, "b"), hopxml.AtEnd())
			},
			"<p>\n  <b>\n    <c/>\n    <a>\n      <x>1\n  2</x>\n    </a>\n  </b>\n</p>",
		},
		"copy": {
			"<p>\n  <a q='1'>\n    <!-- n -->\n    <x>&#65;</x>\n  </a>\n</p>",
			func(t *testing.T, d doc) hopxml.Edit {
				return hopxml.Copy(id(t, d, "a"), id(t, d), hopxml.After(id(t, d, "a")))
			},
			"<p>\n  <a q='1'>\n    <!-- n -->\n    <x>&#65;</x>\n  </a>\n  <a q='1'>\n    <!-- n -->\n    <x>&#65;</x>\n  </a>\n</p>",
		},
		"set a child under the name found": {
			"<p>\n  <Name>1</Name>\n</p>",
			func(t *testing.T, d doc) hopxml.Edit {
				return hopxml.Join(hopxml.SetChild(id(t, d), "name", "2", hopxml.AtEnd()), hopxml.SetChild(id(t, d), "other", "3", hopxml.AtEnd()))
			},
			"<p>\n  <Name>2</Name>\n  <other>3</other>\n</p>",
		},
		"set flags": {
			"<p><a>true</a><b>T</b><c>no</c></p>",
			func(t *testing.T, d doc) hopxml.Edit {
				return hopxml.Join(hopxml.SetFlag(id(t, d), "a", true), hopxml.SetFlag(id(t, d), "b", false),
					hopxml.SetFlag(id(t, d), "c", false), hopxml.SetFlag(id(t, d), "d", false), hopxml.SetFlag(id(t, d), "e", true))
			},
			"<p><a>true</a><b>N</b><c>no</c><e>Y</e></p>",
		},
		"set a path": {
			"<p>\n  <a/>\n</p>",
			func(t *testing.T, d doc) hopxml.Edit {
				return hopxml.SetPath(id(t, d), []string{"A", "b", "c"}, "1")
			},
			"<p>\n  <a>\n    <b>\n      <c>1</c>\n    </b>\n  </a>\n</p>",
		},
		"remove a child": {
			"<p>\n  <a/>\n  <b/>\n</p>",
			func(t *testing.T, d doc) hopxml.Edit {
				return hopxml.Join(hopxml.RemoveChild(id(t, d), "B"), hopxml.RemoveChild(id(t, d), "absent"))
			},
			"<p>\n  <a/>\n</p>",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := parse(t, c.in)
			got := apply(t, d, c.edit(t, d))
			if string(got.Bytes()) != c.want {
				t.Errorf("got\n%q\nwant\n%q", got.Bytes(), c.want)
			}
			if string(d.Bytes()) != c.in {
				t.Errorf("the earlier document changed: %q", d.Bytes())
			}
			if got.Edited() != (c.in != c.want) {
				t.Errorf("Edited is %v", got.Edited())
			}
		})
	}
}

func TestEditsRefuse(t *testing.T) {
	const in = "<p><a>text</a><b><c/></b></p>"
	d := parse(t, in)
	foreign := parse(t, "<p>"+strings.Repeat("<x/>", 50)+"</p>").Root().Elements()[40].ID()
	gone := apply(t, d, hopxml.Remove(id(t, d, "b")))
	for name, c := range map[string]struct {
		doc  *hopxml.Document
		edit hopxml.Edit
		want error
	}{
		"text beside elements":    {d, hopxml.SetText(id(t, d, "b"), "x"), hopxml.ErrInvalid},
		"element beside text":     {d, hopxml.Insert(id(t, d, "a"), hopxml.AtEnd(), hopxml.Leaf("x", "")), hopxml.ErrInvalid},
		"move beside text":        {d, hopxml.Move(id(t, d, "b"), id(t, d, "a"), hopxml.AtEnd()), hopxml.ErrInvalid},
		"remove the root":         {d, hopxml.Remove(id(t, d)), hopxml.ErrInvalid},
		"replace the root":        {d, hopxml.Replace(id(t, d), hopxml.Leaf("x", "")), hopxml.ErrInvalid},
		"move into itself":        {d, hopxml.Move(id(t, d, "b"), id(t, d, "b", "c"), hopxml.AtEnd()), hopxml.ErrInvalid},
		"move the root":           {d, hopxml.Move(id(t, d), id(t, d, "b"), hopxml.AtEnd()), hopxml.ErrInvalid},
		"bad name":                {d, hopxml.Insert(id(t, d), hopxml.AtEnd(), hopxml.Leaf("a b", "")), hopxml.ErrInvalid},
		"markup as name":          {d, hopxml.Insert(id(t, d), hopxml.AtEnd(), hopxml.Branch("a", hopxml.Leaf("<x", ""))), hopxml.ErrInvalid},
		"broken UTF-8 as name":    {d, hopxml.Insert(id(t, d), hopxml.AtEnd(), hopxml.Leaf("a\xff", "")), hopxml.ErrInvalid},
		"copy of nothing":         {d, hopxml.Insert(id(t, d), hopxml.AtEnd(), hopxml.From(nil)), hopxml.ErrInvalid},
		"text and children":       {d, hopxml.Insert(id(t, d), hopxml.AtEnd(), hopxml.Draft{Name: "x", Text: "y", Children: []hopxml.Draft{{Name: "z"}}}), hopxml.ErrInvalid},
		"identity of no one":      {d, hopxml.SetText(0, "x"), hopxml.ErrNotFound},
		"identity of another":     {d, hopxml.Remove(foreign), hopxml.ErrNotFound},
		"identity gone":           {gone, hopxml.SetText(id(t, d, "b", "c"), "x"), hopxml.ErrNotFound},
		"sibling of other parent": {d, hopxml.Insert(id(t, d), hopxml.After(id(t, d, "b", "c")), hopxml.Leaf("x", "")), hopxml.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			if next, err := c.doc.Apply(c.edit); next != nil || !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	if string(d.Bytes()) != in {
		t.Errorf("the document changed: %q", d.Bytes())
	}
}

func TestApplyIsAllOrNothing(t *testing.T) {
	d := parse(t, "<p><a>1</a></p>")
	next, err := d.Apply(hopxml.SetText(id(t, d, "a"), "2"), hopxml.Remove(99))
	if next != nil || err == nil || string(d.Bytes()) != "<p><a>1</a></p>" {
		t.Errorf("got %v, %v", next, err)
	}
}

func TestIdentitiesOutliveEdits(t *testing.T) {
	d := parse(t, "<p><a/><b><c>1</c></b></p>")
	c := id(t, d, "b", "c")
	moved := apply(t, d,
		hopxml.Insert(id(t, d), hopxml.Before(id(t, d, "a")), hopxml.Leaf("new", "")),
		hopxml.Move(id(t, d, "b"), id(t, d, "a"), hopxml.AtEnd()),
		hopxml.SetText(c, "2"))
	if got := moved.Element(c); got != at(t, moved, "a", "b", "c") || got.Text() != "2" {
		t.Errorf("got %v", got)
	}
	replaced := apply(t, moved, hopxml.Replace(c, hopxml.Leaf("z", "3")))
	if got := replaced.Element(c); got.Name() != "z" || got.Text() != "3" {
		t.Errorf("replaced: %v", got)
	}
	// Two branches of one history never give one identity to two elements.
	one := apply(t, d, hopxml.Insert(id(t, d), hopxml.AtEnd(), hopxml.Leaf("x", "")))
	two := apply(t, d, hopxml.Insert(id(t, d), hopxml.AtEnd(), hopxml.Leaf("y", "")))
	if two.Element(id(t, one, "x")) != nil {
		t.Error("an identity was given twice")
	}
	seen := map[hopxml.ID]bool{}
	copied := apply(t, d, hopxml.Copy(id(t, d, "b"), id(t, d), hopxml.AtEnd()))
	walk(copied.Root(), func(e *hopxml.Element) {
		if seen[e.ID()] {
			t.Errorf("<%s> shares its identity", e.Name())
		}
		seen[e.ID()] = true
	})
}

func TestCopyBetweenFilesOfOtherLayout(t *testing.T) {
	from := parse(t, "<p>\r\n\t<x>\r\n\t\t<y>1\r\n2</y>\r\n\t</x>\r\n</p>")
	to := parse(t, "<p>\n    <q>\n        <r/>\n    </q>\n</p>\n")
	got := apply(t, to, hopxml.Insert(id(t, to, "q"), hopxml.AtEnd(), hopxml.From(at(t, from, "x"))))
	const want = "<p>\n    <q>\n        <r/>\n        <x>\n        \t<y>1\n2</y>\n        </x>\n    </q>\n</p>\n"
	if string(got.Bytes()) != want {
		t.Errorf("got\n%q\nwant\n%q", got.Bytes(), want)
	}
}
