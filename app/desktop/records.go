//go:build !headless

package desktop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"sluice/app/cli"
	"sluice/app/presenter"
	"sluice/app/workspace"
	"sluice/engine/gate"
	"sluice/storage"
)

// shownExecution is the one that the perspective of executions shows, nil when there
// is none.
func (d *Desktop) shownExecution() *presenter.ExecutionDetail {
	if d.runs == nil || d.runs.detail.shown == nil {
		d.frame.note("Select an execution first")
		return nil
	}
	return d.runs.detail.shown
}

// askBundle packs what is known of the shown execution into a file.
func (d *Desktop) askBundle() {
	x := d.shownExecution()
	if x == nil {
		return
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = filepath.Dir(x.File)
	}
	d.choose(chooserOptions{title: "Support bundle of " + x.Name, ok: "Pack", folder: home, name: "sluice-" + presenter.ShortID(x.Root) + ".zip", save: true, show: func(name string) bool { return filepath.Ext(name) == ".zip" }},
		func(path string) { d.mayReplace(path, func() { d.packBundle(x, path) }) })
}

func (d *Desktop) packBundle(x *presenter.ExecutionDetail, path string) {
	background(d, func() (files int, err error) {
		s, err := d.history.Store(context.Background())
		if err != nil {
			return 0, err
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return 0, err
		}
		files, err = workspace.SupportBundle(context.Background(), s, x.Execution, cli.Version, f)
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(path))
		}
		return files, err
	}, func(files int, err error) {
		if err != nil {
			d.fail("Support bundle", err)
			return
		}
		d.event("bundle %d files", files)
		d.tell("Support bundle", fmt.Sprintf("%s holds %s: records, log, definitions and metadata, without secrets and rows. Look through it before you pass it on.", filepath.Base(path), presenter.Plural(int64(files), "file")))
	})
}

// askRetention asks which records go, shows the plan, and removes them.
func (d *Desktop) askRetention() {
	age, keep := "30d", ""
	var plan storage.RetentionPlan
	said := d.words("", textSize, inkText)
	problem := d.words("", captionSize, inkTone(toneError))
	var dl *dialog
	remove := button("Remove", true, nil)
	policy := func() (p storage.RetentionPolicy, text string) {
		if age != "" {
			long, err := gate.ParseAge(age)
			if err != nil {
				return p, "Age: " + err.Error()
			}
			p.MaxAge = long
		}
		if keep != "" {
			n, err := strconv.Atoi(keep)
			if err != nil || n < 1 {
				return p, "Newest runs: give a number of at least 1"
			}
			p.Count = n
		}
		if p.MaxAge == 0 && p.Count == 0 {
			return p, "Give an age, or a number of runs to keep"
		}
		return p, ""
	}
	asked := 0
	check := func() {
		asked++
		now := asked
		p, text := policy()
		problem.Set(text, nil)
		remove.Disable()
		if text != "" {
			said.Set("", nil)
			return
		}
		background(d, func() (storage.RetentionPlan, error) {
			ctx := context.Background()
			s, err := d.history.Store(ctx)
			if err != nil {
				return storage.RetentionPlan{}, err
			}
			p.Needed = workspace.NeededBySnapshots(ctx, s)
			return s.PlanRetention(ctx, p)
		}, func(got storage.RetentionPlan, err error) {
			if now != asked {
				return
			}
			if err != nil {
				problem.Set(err.Error(), nil)
				return
			}
			plan = got
			said.Set(retentionText(plan), nil)
			setEnabled(remove, len(plan.Remove) > 0)
		})
	}
	older, newest := d.field(age, "such as 30d", func(s string) { age = s; check() }), d.field(keep, "any number", func(s string) { keep = s; check() })
	remove.OnTapped = func() {
		p, _ := policy()
		dl.close()
		background(d, func() (storage.Removed, error) { return d.removeRecords(p) }, func(r storage.Removed, err error) {
			if err != nil {
				d.fail("Remove old records", err)
				return
			}
			d.frame.note(presenter.Plural(r.Executions, "record") + " removed")
			d.event("records removed %d", r.Executions)
			d.recordsChanged()
		})
	}
	body := container.NewVBox(
		container.New(&pair{}, container.NewVBox(d.caption("Remove what ended longer ago than"), older), container.NewVBox(d.caption("Keep the newest runs"), newest)),
		problem, inset(said, 8, 0, 8, 0), d.caption("Failed runs with sealed rows that were not replayed yet stay."), d.caption("Snapshots have a retention of their own, at their gates."))
	dl = d.dialog("Remove old records", "", body, fyne.NewSize(600, 320), nil, button("Cancel", false, func() { dl.close() }), remove)
	check()
}

func retentionText(p storage.RetentionPlan) string {
	text := presenter.Plural(int64(len(p.Remove)), "run") + " would go"
	if len(p.Keep) > 0 {
		text += ", " + presenter.Grouped(int64(len(p.Keep))) + " stay: " + p.Keep[0].Why
	}
	return text
}

// showDisk shows what this program takes on this machine.
func (d *Desktop) showDisk() {
	background(d, func() ([]workspace.Usage, error) {
		f, err := workspace.UserFolders()
		if err != nil {
			return nil, err
		}
		p := workspace.NewPlaces(f, nil, slog.New(slog.DiscardHandler))
		list, err := p.Usage(context.Background())
		return list, errors.Join(err, p.Close(context.Background()))
	}, func(list []workspace.Usage, err error) {
		if err != nil {
			d.fail("Disk use", err)
			return
		}
		var sum int64
		for _, u := range list {
			sum += u.Bytes
		}
		g := newGrid(d, []gridColumn{{"What", 160, false, 0}, {"Size", 100, true, 0}, {"Files", 80, true, 0}, {"Where", 220, false, 1}, {"Clear with", 190, false, 0}}, func() int { return len(list) }, func(r, c int) gridCell {
			u := list[r]
			switch c {
			case 1:
				return gridCell{text: workspace.FormatBytes(u.Bytes)}
			case 2:
				return gridCell{text: presenter.Grouped(int64(u.Files)), ink: inkSoft}
			}
			return gridCell{text: []string{capital(u.Name), "", "", shorten(u.Path), u.Clear}[c], ink: []ink{inkText, nil, nil, inkSoft, inkSoft}[c]}
		})
		var dl *dialog
		dl = d.dialog("Disk use", workspace.FormatBytes(sum)+" on this machine, "+presenter.When(d.now(), d.now()), d.outlined(g.all), fyne.NewSize(920, 340), nil, button("Close", true, func() { dl.close() }))
		dl.onEnter = func() { dl.close() }
	})
}
