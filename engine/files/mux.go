package files

import (
	"context"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
)

// Mux hands locations of this machine to Local and all others to Remote.
type Mux struct {
	Local  Local
	Remote Store
}

var _ Store = (*Mux)(nil)

// remoteStart is "remote:" with a name of at least two characters, since one
// letter is a drive of Windows, or "scheme://".
var remoteStart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^:?[\pL\pN_.+@][\pL\pN_.+@ -]+(?:,[^/]*)?:`) })

// IsRemote says whether a location names something outside of this machine. A
// name with a colon that is a file here is that file.
func IsRemote(location string) bool {
	if strings.HasPrefix(location, "file:") || !remoteStart().MatchString(location) {
		return false
	}
	if strings.Contains(location, "://") {
		return true
	}
	_, err := os.Lstat(location)
	return err != nil
}

func (m *Mux) of(location string) Store {
	if m.Remote != nil && IsRemote(location) {
		return m.Remote
	}
	return m.Local
}

// Open implements Store.
func (m *Mux) Open(ctx context.Context, location string) (io.ReadCloser, error) {
	return m.of(location).Open(ctx, location)
}

// Create implements Store.
func (m *Mux) Create(ctx context.Context, location string, o CreateOptions) (Writer, error) {
	return m.of(location).Create(ctx, location, o)
}

// Stat implements Store.
func (m *Mux) Stat(ctx context.Context, location string) (Info, error) {
	return m.of(location).Stat(ctx, location)
}

// List implements Store.
func (m *Mux) List(ctx context.Context, folder string, deep bool) ([]Info, error) {
	return m.of(folder).List(ctx, folder, deep)
}

// MakeFolder implements Store.
func (m *Mux) MakeFolder(ctx context.Context, location string) error {
	return m.of(location).MakeFolder(ctx, location)
}

// Remove implements Store.
func (m *Mux) Remove(ctx context.Context, location string) error {
	return m.of(location).Remove(ctx, location)
}

// RemoveAll implements Store.
func (m *Mux) RemoveAll(ctx context.Context, location string) error {
	return m.of(location).RemoveAll(ctx, location)
}

// Move implements Store, also from one store to the other.
func (m *Mux) Move(ctx context.Context, from, to string) error {
	a, b := m.of(from), m.of(to)
	if a == b {
		return a.Move(ctx, from, to)
	}
	return copyThenRemove(ctx, a, b, from, to)
}
