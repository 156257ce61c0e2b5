package gate_test

import (
	"encoding/hex"
	"maps"
	"os"
	"testing"

	"sluice/storage"
)

func readFile(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func hexBytes(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// everything reads all objects below a folder of a remote.
func everything(t testing.TB, r storage.Remote, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	list, err := r.List(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list {
		if o.Dir {
			maps.Copy(out, everything(t, r, o.Name))
			continue
		}
		data, err := storage.ReadAll(t.Context(), r, o.Name, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		out[o.Name] = data
	}
	return out
}

func mustMkdir(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}
