package cli

import (
	"encoding/json"
	"io"
	"sync"
)

// answerWriter remembers the first error of what a command prints, so that no
// command has to look after each line. It is safe for many goroutines.
type answerWriter struct {
	w io.Writer

	mu  sync.Mutex
	err error
}

// Write implements io.Writer; after an error it writes nothing more.
func (a *answerWriter) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err != nil {
		return 0, a.err
	}
	n, err := a.w.Write(p)
	a.err = err
	return n, err
}

// failure gives the first error.
func (a *answerWriter) failure() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

// jsonLine prints a value on one line.
func (sh *shell) jsonLine(v any) error { return json.NewEncoder(sh.Out).Encode(v) }
