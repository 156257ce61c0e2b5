//go:build !headless

package desktop

import (
	"fmt"
	"strings"

	"fyne.io/fyne/v2"

	"sluice/app/presenter"
	"sluice/engine/hopxml"
)

// versions are two versions of a file to compare.
type versions struct {
	title         string
	yours, theirs *hopxml.Document
	here, there   string // what they are called
	then          func() // runs when the comparison is closed
}

// compare shows in what two versions of a file differ.
func (d *Desktop) compare(v versions) {
	list, err := presenter.Differences(v.yours, v.theirs)
	if err != nil {
		d.fail("Compare "+v.title, err)
		d.dialogs[len(d.dialogs)-1].onClose = v.then
		return
	}
	g := newGrid(d, []gridColumn{{"Where", 190, false, 0}, {"What", 220, false, 1}, {v.here, 200, false, 1}, {v.there, 200, false, 1}},
		func() int { return len(list) }, func(r, c int) gridCell {
			x := list[r]
			yours, theirs := presenter.ShortDiff(x.Yours, x.Theirs)
			return []gridCell{{text: x.Where, bold: true}, {text: x.What, ink: inkSoft}, versionCell(yours), versionCell(theirs)}[c]
		})
	g.onRow = func(r int) {
		x := list[r]
		d.tell(strings.TrimSpace(x.Where+" "+x.What), fmt.Sprintf("%s:\n%s\n\n%s:\n%s", v.here, shownValue(x.Yours), v.there, shownValue(x.Theirs)))
	}
	text := presenter.Plural(int64(len(list)), "difference")
	body := d.outlined(g.all)
	if len(list) == 0 {
		text = "Both say the same; they differ at most in blanks and comments."
	}
	var dl *dialog
	dl = d.dialog("Compare "+v.title, text, body, fyne.NewSize(960, 560), nil, button("Close", true, func() { dl.close() }))
	dl.onEnter, dl.onClose = func() { dl.close() }, v.then
	d.event("compared %d", len(list))
}

func versionCell(value string) gridCell {
	if value == "" {
		return gridCell{text: "not there", ink: inkOff}
	}
	return gridCell{text: strings.ReplaceAll(value, "\n", " ⏎ ")}
}
