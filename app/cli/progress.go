package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-isatty"

	"sluice/engine/pipeline"
)

const progressEvery = 200 * time.Millisecond

// progress shows one line per transform on a terminal while an execution runs,
// and one line per transform at its end elsewhere.
type progress struct {
	w     io.Writer
	exec  *pipeline.Execution
	live  bool
	show  bool
	quit  chan struct{}
	wait  sync.WaitGroup
	lines int
}

func watch(sh *shell, e *pipeline.Execution, show bool) *progress {
	p := &progress{w: sh.Err, exec: e, show: show, quit: make(chan struct{})}
	if f, ok := sh.Err.(*os.File); ok && show {
		p.live = isatty.IsTerminal(f.Fd())
	}
	if p.live {
		p.wait.Go(p.loop)
	}
	return p
}

func (p *progress) loop() {
	t := time.NewTicker(progressEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			p.draw()
		case <-p.quit:
			return
		}
	}
}

func (p *progress) stop() {
	close(p.quit)
	p.wait.Wait()
	if p.show {
		p.draw()
	}
}

func (p *progress) draw() {
	logLock.Lock()
	defer logLock.Unlock()
	var b strings.Builder
	if p.live && p.lines > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", p.lines)
	}
	now := time.Now()
	list := p.exec.Metrics()
	width := 0
	for _, m := range list {
		width = max(width, len([]rune(title(m))))
	}
	for _, m := range list {
		if p.live {
			b.WriteString("\x1b[2K")
		}
		b.WriteString(line(m, width, now))
	}
	p.lines = len(list)
	fmt.Fprint(p.w, b.String())
}

func title(m pipeline.Metrics) string {
	name := strings.ReplaceAll(m.Name, "\n", " ")
	if m.Copy > 0 {
		return fmt.Sprintf("%s.%d", name, m.Copy)
	}
	return name
}

func line(m pipeline.Metrics, width int, now time.Time) string {
	t := title(m)
	t += strings.Repeat(" ", width-len([]rune(t)))
	s := fmt.Sprintf("  %s  %12s read %12s written %12s rows/s  %s", t, grouped(m.Read+m.Input), grouped(max(m.Written, m.Output)), grouped(int64(m.Rate(now))), m.State)
	if m.Rejected > 0 {
		s += fmt.Sprintf("  %s rejected", grouped(m.Rejected))
	}
	if m.Errors > 0 {
		s += fmt.Sprintf("  %d errors", m.Errors)
	}
	return s + "\n"
}

// grouped writes 1234567 as 1,234,567.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
