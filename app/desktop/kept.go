//go:build !headless

package desktop

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"fyne.io/fyne/v2/container"

	"sluice/app/presenter"
	"sluice/canvas/scene"
)

// keepSplit lets a split stand where the user left it, at the standard share until
// he moves it.
func (d *Desktop) keepSplit(name string, s *container.Split, standard float64) {
	if kept, ok := d.memory.Splits[name]; ok {
		standard = kept
	}
	s.SetOffset(standard)
	d.splits[name] = s
}

// folded tells whether a split shows one side alone: that is no choice of the user.
func folded(s *container.Split) bool { return s.Offset < 0.02 || s.Offset > 0.98 }

// remember writes what is kept between starts, when it is not what was written last.
func (d *Desktop) remember() {
	d.noteState()
	if reflect.DeepEqual(d.memory, d.remembered) {
		return
	}
	m, path := d.memory, d.memoryPath
	m.Open, m.Recent, m.Unsaved = slices.Clone(m.Open), slices.Clone(m.Recent), slices.Clone(m.Unsaved)
	m.Splits, m.Views = maps.Clone(m.Splits), maps.Clone(m.Views)
	d.remembered = m
	d.write(func() {
		if err := m.Save(path); err != nil {
			d.post(func() { d.frame.note("The window's state could not be kept: " + err.Error()) })
		}
	})
}

// noteState takes down how the window stands.
func (d *Desktop) noteState() {
	m := &d.memory
	if !d.restoring {
		m.Open, m.Current = nil, ""
		for _, e := range d.editors {
			if e.file.Path() != "" {
				m.Open = append(m.Open, e.file.Path())
			}
		}
		if d.current != nil {
			m.Current = d.current.file.Path()
		}
	}
	for _, e := range d.editors {
		if v := e.graph.Machine().View(); e.file.Path() != "" && e.graph.Size().Width >= 1 {
			m.SetView(e.file.Path(), presenter.FileView{Zoom: v.Zoom, X: v.Offset.X, Y: v.Offset.Y})
		}
	}
	if size := d.win.Canvas().Size(); size.Width > 100 && !d.win.FullScreen() {
		m.Width, m.Height = size.Width, size.Height
	}
	m.Side = d.frame.split.Offset
	if d.current != nil {
		m.Bottom = d.current.bottomShare()
	}
	for name, s := range d.splits {
		if !folded(s) {
			m.SetSplit(name, s.Offset)
		}
	}
}

// restore opens the files of the last time, in their order, and goes to the one that
// was in front.
func (d *Desktop) restore(paths []string, front string) {
	if len(paths) == 0 {
		return
	}
	d.restoring = true
	background(d, func() ([]loaded, error) {
		var list []loaded
		var errs []error
		for _, p := range paths {
			l, err := load(p)
			if err == nil {
				list = append(list, l)
			}
			errs = append(errs, err)
		}
		return list, errors.Join(errs...)
	}, func(list []loaded, err error) {
		for _, l := range list {
			if d.editorOf(l.path) == nil {
				err = errors.Join(err, d.adopt(l))
			}
		}
		d.restoring = false
		if e := d.editorOf(front); e != nil {
			d.show(e)
		}
		d.remember()
		d.missed(err)
	})
}

// missed tells about files of the last time that did not open: those that are gone in
// a line, others in a dialog.
func (d *Desktop) missed(err error) {
	if err == nil {
		return
	}
	var gone []string
	var others []error
	for _, one := range joined(err) {
		var at *fs.PathError
		if errors.As(one, &at) && errors.Is(one, fs.ErrNotExist) {
			gone = append(gone, filepath.Base(at.Path))
		} else {
			others = append(others, one)
		}
	}
	if len(gone) > 0 {
		d.frame.note(strings.Join(gone, ", ") + " of the last time is not there any more")
		d.event("gone %s", strings.Join(gone, " "))
	}
	if len(others) > 0 {
		d.fail("Open the files of the last time", errors.Join(others...))
	}
}

// joined are the errors that errors.Join put together.
func joined(err error) []error {
	list, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range list.Unwrap() {
		all = append(all, joined(e)...)
	}
	return all
}

// showFirst shows a file as it was looked at the last time, else the whole of it.
func (e *editor) showFirst() {
	if v, ok := e.d.memory.Views[e.file.Path()]; ok && e.file.Path() != "" && v.Zoom > 0 {
		e.graph.SetView(scene.View{Zoom: v.Zoom, Offset: scene.Point{X: v.X, Y: v.Y}})
	} else if len(e.file.Nodes()) > 0 {
		e.graph.Fit()
	}
}
