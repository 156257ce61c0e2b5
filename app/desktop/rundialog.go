//go:build !headless

package desktop

import (
	"maps"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/engine/pipeline"
	"sluice/engine/project"
)

// runChoices are what the run dialog offers, read from the project.
type runChoices struct {
	configurations []string
	standard       string
	variables      *project.Variables
}

// askRun asks for configuration, log level, parameters and variables, and runs.
func (e *editor) askRun() {
	if v := e.runView(); v != nil && v.State.Active() {
		return
	}
	open, pipelines := e.d.workspace(e.file.Path(), e.home), e.file.IsPipeline()
	background(e.d, func() (runChoices, error) {
		ws, err := open(nil, "")
		if err != nil {
			return runChoices{}, err
		}
		m := ws.Project.Metadata()
		kind := project.TypePipelineRunConfiguration
		if !pipelines {
			kind = project.TypeWorkflowRunConfiguration
		}
		c := runChoices{standard: m.DefaultRunConfiguration(kind), variables: ws.Scope}
		if c.configurations, err = m.Names(kind); err != nil {
			return c, err
		}
		if c.standard == "" {
			c.standard = project.LocalRunConfiguration
		}
		if len(c.configurations) == 0 {
			c.configurations = []string{c.standard}
		}
		return c, nil
	}, func(c runChoices, err error) {
		if err != nil {
			e.d.fail("Run "+e.file.Title(), err)
			return
		}
		newRunDialog(e, c).open()
	})
}

// runDialog asks what a run needs to know.
type runDialog struct {
	e          *editor
	c          runChoices
	o          presenter.RunOptions
	parameters map[string]string
	variables  []runVariable
	list       *fyne.Container
	dl         *dialog
}

// runVariable is a variable that is set for the run.
type runVariable struct{ name, value string }

func newRunDialog(e *editor, c runChoices) *runDialog {
	r := &runDialog{e: e, c: c, o: e.options, parameters: map[string]string{}}
	if r.o.Configuration == "" {
		r.o.Configuration = c.standard
	}
	maps.Copy(r.parameters, r.o.Parameters)
	for _, name := range slices.Sorted(maps.Keys(r.o.Variables)) {
		r.variables = append(r.variables, runVariable{name, r.o.Variables[name]})
	}
	return r
}

func (r *runDialog) open() {
	d := r.e.d
	config := widget.NewSelect(r.c.configurations, func(s string) { r.o.Configuration = s })
	config.SetSelected(r.o.Configuration)
	level := widget.NewSelect(logLevels, func(s string) { r.o.Level = s })
	level.SetSelected(r.o.Level)
	top := container.New(&pair{}, container.NewVBox(d.caption("Run configuration"), bordered(config)), container.NewVBox(d.caption("Log level"), bordered(level)))
	rows := container.NewVBox(inset(d.bold("Parameters", textSize), 4, 0, 4, 0))
	for _, p := range r.e.file.Parameters() {
		value := d.field(r.parameters[p.Name], p.Default, func(s string) { r.parameters[p.Name] = s })
		text := p.Description
		if text == "" && p.Default != "" {
			text = "default: " + p.Default
		}
		rows.Add(container.NewVBox(container.NewBorder(nil, nil, sized(d.text(p.Name), 200, 0), nil, value), inset(d.caption(text), 0, 0, 4, 208)))
	}
	if len(r.e.file.Parameters()) == 0 {
		rows.Add(d.soft("This file has no parameters."))
	}
	add := d.flat("add", "Add variable", "A value over that of the project, for this run", func() {
		r.variables = append(r.variables, runVariable{})
		r.showVariables()
	})
	rows.Add(inset(container.NewBorder(nil, nil, nil, add, d.bold("Variables", textSize)), 12, 0, 4, 0))
	r.list = container.NewVBox()
	rows.Add(r.list)
	r.showVariables()
	if r.e.file.HasCaches() {
		cache := widget.NewCheck("Take rows of cached outputs (development)", func(on bool) { r.o.FromCache = on })
		cache.Checked = r.o.FromCache
		rows.Add(cache)
	}
	var status fyne.CanvasObject
	if r.e.file.Dirty() {
		status = d.caption("Runs as it is shown here, with the unsaved changes")
	}
	body := container.NewBorder(inset(top, 0, 0, 8, 0), nil, nil, nil, container.NewVScroll(inset(rows, 0, 14, 0, 0)))
	r.dl = d.dialog("Run "+r.e.file.Title(), "", body, fyne.NewSize(640, 500), status, button("Cancel", false, func() { r.dl.close() }), button("Run", true, r.start))
	r.dl.onEnter = r.start
}

// showVariables lists the variables that are set.
func (r *runDialog) showVariables() {
	d := r.e.d
	r.list.Objects = nil
	var known []string
	if r.c.variables != nil {
		known = slices.Sorted(maps.Keys(r.c.variables.All()))
	}
	for i := range r.variables {
		value := d.field(r.variables[i].value, "value", func(s string) { r.variables[i].value = s })
		value.variables = r.c.variables
		name := d.choice(r.variables[i].name, known, nil)
		name.SetPlaceHolder("name")
		name.OnChanged = func(s string) { r.variables[i].name = strings.TrimSpace(s) }
		remove := d.tool("delete", "Do not set it", func() {
			r.variables = slices.Delete(r.variables, i, i+1)
			r.showVariables()
		})
		r.list.Add(container.NewBorder(nil, nil, sized(name, 200, 0), remove, value))
	}
	if len(r.variables) == 0 {
		r.list.Add(d.soft("Those of the project and its environment are used as they are."))
	}
	r.list.Refresh()
}

// start closes the dialog and runs.
func (r *runDialog) start() {
	r.dl.close()
	r.o.Parameters, r.o.Variables = map[string]string{}, map[string]string{}
	for k, v := range r.parameters {
		if v != "" {
			r.o.Parameters[k] = v
		}
	}
	for _, v := range r.variables {
		if v.name != "" {
			r.o.Variables[v.name] = v.value
		}
	}
	r.e.options, r.e.d.memory.LogLevel = r.o, r.o.Level
	r.e.options.FromCache = false // it is asked each time
	r.e.run(r.o, pipeline.Run{}, nil)
}
