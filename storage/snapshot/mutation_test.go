package snapshot_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"sluice/storage"
	"sluice/storage/snapshot"
)

const (
	mutations    = 500
	mutationSeed = 20261130
)

// mutant is one sealed snapshot with a change.
type mutant struct {
	t     *testing.T
	rng   *rand.Rand
	disk  *storage.Memory
	ref   storage.SnapshotRef
	names []string          // of all its objects, sorted
	files map[string][]byte // as sealed
	other map[string][]byte // of another sealed snapshot
}

func (m *mutant) pick() string { return m.names[m.rng.IntN(len(m.names))] }

func (m *mutant) put(name string, data []byte) { mustPut(m.t, m.disk, name, data) }

func (m *mutant) delete(name string) {
	if err := m.disk.Delete(m.t.Context(), name); err != nil {
		m.t.Fatal(err)
	}
}

func (m *mutant) segments() []string {
	return slices.DeleteFunc(slices.Clone(m.names), func(n string) bool { return !strings.Contains(n, "-seg-") })
}

// mutators each change something and say what.
var mutators = []func(m *mutant) string{
	func(m *mutant) string {
		name := m.pick()
		data := bytes.Clone(m.files[name])
		bit := m.rng.IntN(8 * len(data))
		data[bit/8] ^= 1 << (bit % 8)
		m.put(name, data)
		return fmt.Sprintf("flip bit %d of %s", bit, path.Base(name))
	},
	func(m *mutant) string {
		name := m.pick()
		m.delete(name)
		return "drop " + path.Base(name)
	},
	func(m *mutant) string {
		name := m.pick()
		n := m.rng.IntN(len(m.files[name]))
		m.put(name, m.files[name][:n])
		return fmt.Sprintf("truncate %s to %d", path.Base(name), n)
	},
	func(m *mutant) string {
		name := m.pick()
		m.put(name, append(bytes.Clone(m.files[name]), byte(m.rng.IntN(256))))
		return "append to " + path.Base(name)
	},
	func(m *mutant) string {
		a, b := m.pick(), m.pick()
		for a == b {
			b = m.pick()
		}
		m.put(a, m.files[b])
		m.put(b, m.files[a])
		return "swap " + path.Base(a) + " and " + path.Base(b)
	},
	func(m *mutant) string {
		list := m.segments()
		from := list[m.rng.IntN(len(list))]
		name := path.Join(path.Dir(from), fmt.Sprintf("p%02d-seg-%06d-%016x.parquet", m.rng.IntN(3), m.rng.IntN(9), m.rng.Uint64()))
		m.put(name, m.files[from])
		return "add " + path.Base(name)
	},
	func(m *mutant) string {
		name := path.Join(path.Dir(m.names[0]), []string{"extra.json", "SnapshotManifest.json.bak", "interrupted.json", "sub/x"}[m.rng.IntN(4)])
		m.put(name, []byte("{}"))
		return "add " + path.Base(name)
	},
	func(m *mutant) string {
		name := m.pick()
		foreign := path.Base(name)
		if strings.Contains(foreign, "-seg-") {
			foreign = foreign[:len("p00-seg-000000")]
		}
		for other, data := range m.other {
			if strings.HasPrefix(path.Base(other), foreign) && !bytes.Equal(data, m.files[name]) {
				m.put(name, data)
				return "replace " + path.Base(name) + " by another snapshot's"
			}
		}
		m.delete(name)
		return "drop " + path.Base(name)
	},
	func(m *mutant) string { return m.forge("strip the HMAC") },
	func(m *mutant) string { return m.forge("forge the reason") },
}

// forge rewrites the manifest as somebody without the key can: with a digest
// that fits, and without MAC.
func (m *mutant) forge(what string) string {
	name := path.Join(m.ref.Gate, m.ref.ID, "SnapshotManifest.json")
	var parsed snapshot.Manifest
	if err := json.Unmarshal(m.files[name], &parsed); err != nil {
		m.t.Fatal(err)
	}
	if what != "strip the HMAC" {
		parsed.Reason = "forged"
	}
	keep := m.rng.IntN(2) == 0
	keyID, mac := parsed.KeyID, parsed.MAC
	parsed.Digest, parsed.MAC, parsed.KeyID = "", "", ""
	if keep {
		parsed.KeyID = keyID
	}
	digest := sha256.Sum256(encode(m.t, parsed))
	parsed.Digest = hex.EncodeToString(digest[:])
	if keep && what != "strip the HMAC" {
		parsed.MAC = mac // of another digest
	}
	m.put(name, encode(m.t, parsed))
	return what
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// TestRandomMutations: after a full verification no row leaves a mutated
// snapshot; with a quick one no row leaves the mutated segment or a later one.
func TestRandomMutations(t *testing.T) {
	t.Logf("seed %d", mutationSeed)
	key, err := snapshot.ParseKey("the key of the mutation test")
	if err != nil {
		t.Fatal(err)
	}
	o := snapshot.Options{Keys: []*snapshot.Key{key}}
	sealed := &storage.Memory{}
	ref, _ := mustWrite(t, newStore(sealed, o), "e1", 2, 4)
	elsewhere := &storage.Memory{}
	o2 := o
	o2.Random = seeded(2)
	otherRef, _ := mustWrite(t, newStore(elsewhere, o2), "e2", 3, 4)
	files, other := tree(t, sealed, path.Join(ref.Gate, ref.ID)), tree(t, elsewhere, path.Join(otherRef.Gate, otherRef.ID))
	names := slices.Sorted(maps.Keys(files))
	rng := rand.New(rand.NewPCG(mutationSeed, 1))
	rows := allRows(2, 4)
	handed := 0
	for i := range mutations {
		m := &mutant{t, rng, sealed.Clone(), ref, names, files, other}
		what := mutators[i%len(mutators)](m)
		label := fmt.Sprintf("mutation %d (%s)", i, what)
		s := newStore(m.disk, o)
		sn, err := s.Load(t.Context(), ref)
		if err != nil {
			continue // not one row
		}
		if _, err := sn.Verify(t.Context(), snapshot.Full, nil); err == nil {
			t.Errorf("%s: full verification found nothing", label)
		}
		got, err := readAll(t.Context(), sn, snapshot.Reading{})
		if !bytes.HasPrefix(rows, got) {
			t.Errorf("%s: rows that were never written were handed out", label)
		}
		if strings.Contains(what, "-seg-") && !strings.HasPrefix(what, "add") {
			if err == nil {
				t.Errorf("%s: read to the end without an error", label)
			}
			handed++
		}
	}
	if handed < mutations/20 {
		t.Errorf("only %d mutations reached the segments", handed)
	}
}

// A manifest of the future, or one that points elsewhere, is refused in words
// that say what to do.
func TestManifestIsParsedStrictly(t *testing.T) {
	disk := &storage.Memory{}
	ref, _ := mustWrite(t, newStore(disk, snapshot.Options{}), "e1", 1, 2)
	name := path.Join(ref.Gate, ref.ID, "SnapshotManifest.json")
	text := string(tree(t, disk, ref.Gate)[name])
	first := text[strings.Index(text, `"name":"p00-seg-000000`)+8:]
	segment := first[:strings.Index(first, `"`)]
	for what, c := range map[string]struct {
		change func(string) string
		want   error
		says   string
	}{
		"newer version":    {replacer(`"formatVersion":1`, `"formatVersion":2`), snapshot.ErrNewerFormat, "update Sluice"},
		"version zero":     {replacer(`"formatVersion":1`, `"formatVersion":0`), storage.ErrCorrupt, ""},
		"unknown member":   {replacer(`"rowCount"`, `"extra":1,"rowCount"`), storage.ErrCorrupt, ""},
		"member twice":     {replacer(`"rowCount"`, `"status":"SEALED","rowCount"`), storage.ErrCorrupt, ""},
		"other case":       {replacer(`"rowCount"`, `"ROWCOUNT"`), storage.ErrCorrupt, ""},
		"blank":            {replacer(`,"rowCount"`, `, "rowCount"`), storage.ErrCorrupt, ""},
		"trailing":         {func(s string) string { return s + "{}" }, storage.ErrCorrupt, ""},
		"name with ..":     {resealed(replacer(segment, "../"+segment)), storage.ErrCorrupt, "outside"},
		"name with /":      {resealed(replacer(segment, "a/"+segment)), storage.ErrCorrupt, "outside"},
		"absolute name":    {resealed(replacer(segment, "/etc/passwd")), storage.ErrCorrupt, "outside"},
		"other name":       {resealed(replacer(segment, "open.json")), storage.ErrCorrupt, ""},
		"huge segment":     {resealed(replacer(`"bytes":400,"rows":50`, `"bytes":99999999999,"rows":50`)), storage.ErrCorrupt, ""},
		"negative rows":    {resealed(replacer(`"rows":50,"sha256"`, `"rows":-50,"sha256"`)), storage.ErrCorrupt, ""},
		"totals":           {resealed(replacer(`"rowCount":101`, `"rowCount":102`)), storage.ErrCorrupt, "add up"},
		"unknown status":   {resealed(replacer(`"status":"SEALED"`, `"status":"DONE"`)), storage.ErrCorrupt, ""},
		"not JSON":         {func(string) string { return "garbage" }, storage.ErrCorrupt, ""},
		"empty":            {func(string) string { return "" }, storage.ErrCorrupt, ""},
		"another snapshot": {resealed(replacer(ref.ID, "00000000-0000-7000-8000-000000000000")), storage.ErrCorrupt, "belongs to"},
	} {
		t.Run(what, func(t *testing.T) {
			m := disk.Clone()
			changed := c.change(text)
			if changed == text {
				t.Fatal("the change changed nothing")
			}
			mustPut(t, m, name, []byte(changed))
			_, err := newStore(m, snapshot.Options{}).Load(t.Context(), ref)
			if !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.says) {
				t.Errorf("error %v, want %v saying %q", err, c.want, c.says)
			}
		})
	}
}

func replacer(old, new string) func(string) string {
	return func(s string) string { return strings.Replace(s, old, new, 1) }
}

// resealed makes the digest fit again, as an attacker would.
func resealed(change func(string) string) func(string) string {
	return func(s string) string {
		s = change(s)
		at := strings.LastIndex(s, `,"digest":"`)
		digest := sha256.Sum256([]byte(s[:at] + "}"))
		return s[:at] + `,"digest":"` + hex.EncodeToString(digest[:]) + `"}`
	}
}
