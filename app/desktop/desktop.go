//go:build !headless

package desktop

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"fyne.io/fyne/v2"
	fyneapp "fyne.io/fyne/v2/app"
	"fyne.io/fyne/v2/container"

	"sluice/app/cli"
	_ "sluice/app/desktop/locale" // before the toolkit asks for a language
	"sluice/app/presenter"
	"sluice/app/workspace"
	"sluice/assets/icons"
	"sluice/canvas/paint"
)

// appID names the application to the system.
const appID = "org.sluice.desktop"

// Options are what the desktop is started with.
type Options struct {
	Files    []string  // opened at the start; none: what was open last, or the welcome screen
	Memory   string    // file of what is kept between starts; empty: the user's
	EventLog io.Writer // gets one line per thing that happened, for tests of the real window
	// Positions is a file that is told where things are, see Position; empty for none.
	Positions string
}

// Desktop is the application: one window.
type Desktop struct {
	app     fyne.App
	win     fyne.Window
	look    *look
	fonts   *paint.Fonts
	chosen  chosenFonts
	lacked  map[rune]bool // blocks of characters that no font had
	lacking []rune        // that are to be looked for
	finding bool
	catalog *presenter.Catalog
	history *workspace.History
	place   place
	runs    *executions // made when it is first shown
	meta    *metadata   // likewise

	lastReplay *replayDialog // that was opened last
	keys       *presenter.KeyTable
	handlers   map[presenter.ActionID]func()

	memory     presenter.Memory
	remembered presenter.Memory // that was written last
	memoryPath string
	splits     map[string]*container.Split // whose places are kept, by name
	restoring  bool                        // the files of the last time are being opened
	away       bool                        // the user looks at another window
	events     io.Writer
	told       int // lines of events

	spawn func(func()) // runs work beside the user interface
	post  func(func()) // runs a function on the goroutine of the user interface
	now   func() time.Time
	// instantly leaves out the rests before background work, for tests.
	instantly bool
	writing   sync.WaitGroup // what write has begun
	disk      sync.Mutex     // one writer of memory and unsaved work at a time

	editors  []*editor
	current  *editor // nil: the welcome screen
	dialogs  []*dialog
	tips     *tipLayer
	frame    *frame
	untitled int
	quitting bool

	scaleGiven bool // the environment sets the size of everything
}

// Run shows the window until it is closed and gives the exit code.
func Run(o Options) int {
	given := os.Getenv(envScale) != ""
	if err := setScale(o.Memory); err != nil {
		fmt.Fprintln(os.Stderr, "sluice:", err)
		return 2
	}
	a := fyneapp.NewWithID(appID)
	d, err := New(a, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sluice:", err)
		return 2
	}
	d.scaleGiven = given
	d.start(o.Files)
	if o.Positions != "" {
		d.tellPositions(o.Positions)
	}
	d.win.ShowAndRun()
	return 0
}

// New builds the window of an application without showing it.
func New(a fyne.App, o Options) (*Desktop, error) {
	fonts, err := paint.NewFonts()
	if err != nil {
		return nil, err
	}
	keys, err := presenter.NewKeyTable(presenter.Actions())
	if err != nil {
		return nil, err
	}
	d := &Desktop{
		app: a, fonts: fonts, keys: keys, catalog: presenter.NewCatalog(workspace.Registry(), workspace.Actions()), memoryPath: o.Memory, events: o.EventLog,
		splits: map[string]*container.Split{}, spawn: func(f func()) { go f() }, post: fyne.Do, now: time.Now,
	}
	folders, err := workspace.UserFolders()
	if err != nil {
		return nil, err
	}
	d.history = workspace.NewHistory(folders, slog.New(slog.DiscardHandler))
	if d.memoryPath == "" {
		if d.memoryPath, err = presenter.MemoryPath(); err != nil {
			return nil, err
		}
	}
	d.memory = presenter.LoadMemory(d.memoryPath)
	d.memory.Dark = d.wantsDark()
	d.look = newLook(d.memory.Dark, &d.chosen)
	d.fonts.Missing, d.lacked = d.lacks, map[rune]bool{}
	a.Settings().SetTheme(d.look)
	a.SetIcon(appTile())
	d.win = a.NewWindow("Sluice")
	d.win.SetPadded(false)
	d.win.SetMaster()
	d.handlers = d.actionHandlers()
	d.build()
	d.win.Resize(fyne.NewSize(d.memory.Width, d.memory.Height))
	d.win.SetCloseIntercept(d.quit)
	d.win.SetOnDropped(func(_ fyne.Position, uris []fyne.URI) {
		paths := make([]string, len(uris))
		for i, u := range uris {
			paths[i] = u.Path()
		}
		d.dropped(paths...)
	})
	d.watchFocus()
	return d, nil
}

// appTile is the icon of the application, nil when it cannot be read.
func appTile() fyne.Resource {
	svg, err := icons.SVG("app-tile")
	if err != nil {
		return nil
	}
	return fyne.NewStaticResource("app-tile.svg", svg)
}

// start opens the files, or what was open last, and looks for unsaved work.
func (d *Desktop) start(files []string) {
	d.showWelcome()
	if len(files) > 0 {
		d.openThen(nil, files...)
	} else {
		d.restore(slices.Clone(d.memory.Open), d.memory.Current)
	}
	d.openDrafts()
	if d.memory.TextFont != "" || d.memory.CodeFont != "" {
		d.useFonts()
	}
	d.every(time.Second, d.findFonts)
	d.every(2*time.Second, d.lookOutside)
	d.every(5*time.Second, func() {
		d.autosave()
		d.remember()
	})
	d.every(time.Second, func() {
		if d.runs != nil {
			d.runs.live()
		}
	})
	d.frame.status.measure()
	d.event("started")
}

// every runs f on the goroutine of the user interface again and again.
func (d *Desktop) every(pause time.Duration, f func()) {
	d.spawn(func() {
		for range time.Tick(pause) {
			d.post(f)
		}
	})
}

// background runs work beside the user interface and then done on its goroutine.
func background[T any](d *Desktop, work func() (T, error), done func(T, error)) {
	d.spawn(func() {
		v, err := work()
		d.post(func() { done(v, err) })
	})
}

// event notes something that happened.
func (d *Desktop) event(format string, args ...any) {
	text := fmt.Sprintf(format, args...) + "\n"
	d.told += strings.Count(text, "\n")
	if d.events != nil {
		_, _ = io.WriteString(d.events, text) // a lost line fails a test, not the work
	}
}

// workspace opens the project of a file. It reads the disk.
func (d *Desktop) workspace(file, home string) func(*presenter.Log, string) (*workspace.Workspace, error) {
	environment := d.memory.Environments[home]
	return func(log *presenter.Log, level string) (*workspace.Workspace, error) {
		min, err := parseLevel(level)
		if err != nil {
			return nil, err
		}
		out := slog.New(slog.DiscardHandler)
		if log != nil {
			out = log.Logger(min)
		}
		o := workspace.Options{File: file, Log: out}
		if environment != "" {
			o.Environments, o.Environment = []string{environment}, presenter.EnvironmentName(environment)
		}
		if file == "" {
			o.Project = home
		}
		ws, err := workspace.Open(o)
		if err == nil {
			ws.History, ws.AppVersion = d.history, cli.Version
		}
		return ws, err
	}
}

// write writes to the disk in the background, one after the other.
func (d *Desktop) write(f func()) {
	d.writing.Add(1)
	d.spawn(func() {
		defer d.writing.Done()
		d.disk.Lock()
		defer d.disk.Unlock()
		f()
	})
}

// quit closes the window, after a question when work is unsaved.
func (d *Desktop) quit() {
	if d.meta != nil && len(d.meta.unsaved()) > 0 {
		d.meta.askQuit()
		return
	}
	unsaved := 0
	for _, e := range d.editors {
		if e.file.Dirty() {
			unsaved++
		}
	}
	leave := func() {
		d.quitting = true
		d.remember()
		d.writing.Wait()
		if err := d.history.Close(); err != nil {
			d.event("record not closed: %v", err)
		}
		d.app.Quit()
	}
	if unsaved == 0 {
		leave()
		return
	}
	if len(d.dialogs) > 0 && d.dialogs[len(d.dialogs)-1].title == "Unsaved changes" {
		return
	}
	d.ask("Unsaved changes", fmt.Sprintf("%s not saved. They are kept and offered at the next start.", filesHave(unsaved)),
		answer{"Stay", false, nil},
		answer{"Quit and keep them", false, func() { d.autosaveNow(); leave() }},
		answer{"Save all and quit", true, func() { d.saveAll(leave) }})
}

func filesHave(n int) string {
	if n == 1 {
		return "1 file has changes that are"
	}
	return fmt.Sprintf("%d files have changes that are", n)
}

// shortenIn writes the home folder in a text as ~.
func shortenIn(text string) string {
	if home, err := os.UserHomeDir(); err == nil && len(home) > 1 {
		return strings.ReplaceAll(text, home+string(filepath.Separator), "~"+string(filepath.Separator))
	}
	return text
}

// shorten gives a path as people write it, ~ for the home folder.
func shorten(path string) string {
	if home, err := os.UserHomeDir(); err == nil {
		if rel, err := filepath.Rel(home, path); err == nil && !filepath.IsAbs(rel) && rel[0] != '.' {
			return filepath.Join("~", rel)
		}
	}
	return path
}
