//go:build !headless

package desktop

import "fyne.io/fyne/v2"

// place is one of the perspectives.
type place int

// The places, in the order of the rail.
const (
	placeDesigner place = iota
	placeExecutions
	placeMetadata
)

// places is what the rail shows: a perspective is one line here and one in goTo.
var places = []struct {
	place           place
	icon, name, tip string
}{
	{placeDesigner, "designer", "Designer", "Designer: pipelines and workflows (Ctrl+Shift+D)"},
	{placeExecutions, "executions", "Executions", "Executions: what has run, and replays (Ctrl+Shift+I)"},
	{placeMetadata, "metadata", "Metadata", "Metadata: connections, remotes, run configurations, environments (Ctrl+Shift+M)"},
}

// atPlace notes where the window is.
func (d *Desktop) atPlace(p place) {
	d.place = p
	if d.frame == nil {
		return
	}
	for i, item := range d.frame.rails {
		item.SetSelected(places[i].place == p)
	}
}

// goTo shows a perspective.
func (d *Desktop) goTo(p place) {
	switch p {
	case placeExecutions:
		if d.runs == nil {
			d.runs = newExecutions(d)
		}
		d.atPlace(p)
		d.frame.body.Objects = []fyne.CanvasObject{d.runs.all}
		d.frame.body.Refresh()
		d.runs.reload()
	case placeMetadata:
		if d.meta == nil {
			d.meta = newMetadata(d)
		}
		d.atPlace(p)
		d.frame.body.Objects = []fyne.CanvasObject{d.meta.all}
		d.frame.body.Refresh()
		d.meta.reload()
	default:
		d.show(d.current)
	}
	d.event("place %s", places[p].name)
}

// recordsChanged brings the perspective of executions up to date when it shows.
func (d *Desktop) recordsChanged() {
	if d.runs != nil && d.place == placeExecutions {
		d.runs.reload()
	}
}

// showExecution goes to one execution.
func (d *Desktop) showExecution(id string) {
	d.goTo(placeExecutions)
	d.runs.choose(id)
}
