package workspace

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"

	"sluice/engine/files"
	"sluice/engine/gate"
	"sluice/engine/project"
	"sluice/storage"
	"sluice/storage/rclone"
	"sluice/storage/snapshot"
)

// EnvRemotePrefix starts the variables that map URI schemes to remotes:
// SLUICE_REMOTE_S3=minio: makes s3://bucket/x mean minio:bucket/x.
const EnvRemotePrefix = "SLUICE_REMOTE_"

// EnvCacheBytes bounds the cache of segments.
const EnvCacheBytes = "SLUICE_CACHE_BYTES"

const defaultCacheBytes = 10 << 30

// Places opens the locations of snapshots and files. It sets nothing up before
// the first one is asked for, and is safe for many goroutines.
type Places struct {
	Folders Folders
	// Base is the folder that ./x is relative to; empty refuses relative ones, as
	// is right for what stands in files.
	Base string
	// AllowOptions admits connection strings with options; never for what stands
	// in files.
	AllowOptions bool

	scope  *project.Variables
	log    *slog.Logger
	shared *remotes
}

// remotes is what all views of Places share.
type remotes struct {
	mu     sync.Mutex // guards what follows
	client *rclone.Client
	cache  *snapshot.Cache
	places map[string]*gate.Place
	// witness remembers the digests of sealed snapshots; nil: nobody does.
	witness snapshot.Witness
}

// NewPlaces opens nothing yet. scope may name schemes; nil has none.
func NewPlaces(f Folders, scope *project.Variables, log *slog.Logger) *Places {
	return &Places{Folders: f, scope: scope, log: log, shared: &remotes{places: map[string]*gate.Place{}}}
}

// ByHand gives the view for locations that a person typed just now.
func (p *Places) ByHand() *Places {
	c := *p
	c.AllowOptions = true
	if wd, err := os.Getwd(); err == nil {
		c.Base = wd
	}
	return &c
}

// Client gives the one rclone client of the process.
func (p *Places) Client() *rclone.Client {
	p.shared.mu.Lock()
	defer p.shared.mu.Unlock()
	if p.shared.client == nil {
		p.shared.client = rclone.New(rclone.Options{Logger: p.log})
	}
	return p.shared.client
}

// Close ends the connections.
func (p *Places) Close(ctx context.Context) error {
	p.shared.mu.Lock()
	defer p.shared.mu.Unlock()
	if p.shared.client == nil {
		return nil
	}
	c := p.shared.client
	p.shared.client, p.shared.places = nil, map[string]*gate.Place{}
	return c.Close(ctx)
}

// Cache gives the cache of segments.
func (p *Places) Cache() *snapshot.Cache {
	p.shared.mu.Lock()
	defer p.shared.mu.Unlock()
	if p.shared.cache == nil {
		limit := int64(defaultCacheBytes)
		if n, err := gate.ParseBytes(os.Getenv(EnvCacheBytes)); err == nil && os.Getenv(EnvCacheBytes) != "" {
			limit = n
		}
		p.shared.cache = snapshot.NewCache(p.Folders.Segments(), limit)
	}
	return p.shared.cache
}

// Parse understands a location; an empty text is the default one.
func (p *Places) Parse(ctx context.Context, text string) (storage.Location, error) {
	if text == "" {
		if text = os.Getenv(gate.VariableSnapshots); text == "" {
			return storage.Location{Path: p.Folders.Snapshots()}, nil
		}
	}
	parsing := storage.Parsing{Base: p.Base, AllowOptions: p.AllowOptions}
	if scheme, _, ok := strings.Cut(text, "://"); ok && !strings.EqualFold(scheme, "file") {
		var err error
		if parsing.Schemes, err = p.schemes(ctx, strings.ToLower(scheme)); err != nil {
			return storage.Location{}, err
		}
	}
	return storage.ParseLocation(text, parsing)
}

// schemes maps URI schemes to remotes: by variable, by environment, else to a
// remote of that very name.
func (p *Places) schemes(ctx context.Context, scheme string) (map[string]string, error) {
	out := map[string]string{}
	add := func(name, value string) {
		if s, ok := strings.CutPrefix(name, EnvRemotePrefix); ok && value != "" {
			if !strings.Contains(value, ":") {
				value += ":"
			}
			out[strings.ToLower(s)] = value
		}
	}
	for _, e := range os.Environ() {
		name, value, _ := strings.Cut(e, "=")
		add(name, value)
	}
	if p.scope != nil {
		for name, value := range p.scope.All() {
			add(name, value)
		}
	}
	if out[scheme] != "" {
		return out, nil
	}
	list, err := p.Client().Remotes(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		if key := strings.ToLower(r.Name); out[key] == "" {
			out[key] = r.Name + ":"
		}
	}
	return out, nil
}

// Place implements gate.Places.
func (p *Places) Place(ctx context.Context, text string) (*gate.Place, error) {
	l, err := p.Parse(ctx, text)
	if err != nil {
		return nil, err
	}
	return p.At(ctx, l)
}

// At opens a parsed location for snapshots.
func (p *Places) At(ctx context.Context, l storage.Location) (*gate.Place, error) {
	key := l.Remote + ":" + l.Path
	p.shared.mu.Lock()
	known := p.shared.places[key]
	p.shared.mu.Unlock()
	if known != nil {
		return known, nil
	}
	keys, err := SnapshotKeys()
	if err != nil {
		return nil, err
	}
	beat, err := Heartbeat()
	if err != nil {
		return nil, err
	}
	place := &gate.Place{Location: l}
	if l.Local() {
		place.Remote = storage.NewPrivateFolder(l.Path)
	} else {
		place.Cache = p.Cache()
		if place.Remote, err = p.Client().Open(ctx, l); err != nil {
			return nil, err
		}
	}
	p.shared.mu.Lock()
	defer p.shared.mu.Unlock()
	place.Store = snapshot.NewStore(place.Remote, snapshot.Options{Keys: keys, Cache: place.Cache, Logger: p.log, Witness: p.shared.witness, Heartbeat: beat})
	p.shared.places[key] = place
	return place, nil
}

// Local gives the stores of the dev cache and of the safe engine.
func (p *Places) Local(kind gate.Kind) (*gate.Place, error) {
	folder := p.Folders.Safe()
	if kind == gate.KindCache {
		folder = p.Folders.DevCache()
	}
	r := storage.NewPrivateFolder(folder)
	return &gate.Place{
		Location: storage.Location{Path: folder}, Remote: r, Store: snapshot.NewStore(r, snapshot.Options{Logger: p.log}),
	}, nil
}

// Files gives files of this machine and of remotes. Relative paths are relative
// to the working directory.
func (p *Places) Files() files.Store {
	return &files.Mux{Remote: &files.Remotes{Locate: p.locate}}
}

// locate opens the folder-most root of a location: the remote without a path, so
// that one connection serves all files of it.
func (p *Places) locate(ctx context.Context, location string) (files.Located, error) {
	l, err := p.Parse(ctx, location)
	if err != nil {
		return files.Located{}, err
	}
	if l.Local() {
		return files.Located{}, fmt.Errorf("%s: %w", location, storage.ErrBadLocation)
	}
	name := strings.Trim(l.Path, "/")
	root := storage.Location{Remote: l.Remote}
	if strings.HasPrefix(l.Path, "/") {
		root.Path = "/"
	}
	r, err := p.Client().Open(ctx, root)
	if err != nil {
		return files.Located{}, err
	}
	return files.Located{Remote: r, Name: name, Prefix: l.Remote + ":" + root.Path}, nil
}

// SetWitness makes the places opened from now on remember, and ask for, the
// digests of sealed snapshots.
func (p *Places) SetWitness(w snapshot.Witness) {
	p.shared.mu.Lock()
	defer p.shared.mu.Unlock()
	p.shared.witness, p.shared.places = w, map[string]*gate.Place{}
}
