package workspace

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"sluice/engine/project"
	"sluice/engine/recorder"
	"sluice/storage"
	"sluice/storage/record"
)

// SupportBundle packs what is known of a run, without secrets and rows, into a zip
// file, and gives the number of files in it. version is that of the program.
func SupportBundle(ctx context.Context, s storage.ExecutionStore, of storage.Execution, version string, to io.Writer) (files int, err error) {
	b := &bundle{zip: zip.NewWriter(to), store: s, version: version}
	err = errors.Join(b.fill(ctx, of), b.zip.Close())
	return b.files, err
}

// bundle is a support bundle while it is written.
type bundle struct {
	zip     *zip.Writer
	store   storage.ExecutionStore
	version string
	files   int
}

func (b *bundle) add(name string, data []byte) error {
	w, err := b.zip.Create(name)
	if err != nil {
		return err
	}
	b.files++
	_, err = w.Write(data)
	return err
}

func (b *bundle) json(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return b.add(name, data)
}

func (b *bundle) fill(ctx context.Context, head storage.Execution) error {
	r, err := record.Collect(ctx, b.store, head.Root)
	if err != nil {
		return err
	}
	for i := range r.Runs {
		r.Runs[i].Rows.Data = nil // rows are nobody's business
	}
	if err := b.add("versions.txt", fmt.Appendf(nil, "sluice %s\n%s %s/%s\n", b.version, runtime.Version(), runtime.GOOS, runtime.GOARCH)); err != nil {
		return err
	}
	if err := errors.Join(b.json("executions.json", r.Executions), b.json("actions.json", r.Runs), b.json("metrics.json", r.Metrics), b.json("snapshots.json", r.Snapshots)); err != nil {
		return err
	}
	for _, e := range r.Executions {
		if data := r.Definitions[e.Definition]; data != nil {
			name := fmt.Sprintf("definitions/%s-%s", e.ID[:min(len(e.ID), shortIDLength)], filepath.Base(e.File))
			if err := b.add(name, recorder.WithoutSecrets(data)); err != nil {
				return err
			}
		}
	}
	return errors.Join(b.log(ctx, head.Root), b.project(head))
}

func (b *bundle) log(ctx context.Context, root string) error {
	w, err := b.zip.Create("log.jsonl")
	if err != nil {
		return err
	}
	b.files++
	enc := json.NewEncoder(w)
	q := storage.LogQuery{Root: root}
	for more := true; more; {
		page, err := b.store.Logs(ctx, q)
		if err != nil {
			return err
		}
		for _, e := range page.Entries {
			if err := enc.Encode(e); err != nil {
				return err
			}
		}
		q.After, more = page.Next, page.More
	}
	return nil
}

// project adds the project's configuration and metadata as they are now. A project
// that is not here adds nothing.
func (b *bundle) project(head storage.Execution) error {
	home := ""
	for _, v := range head.Variables {
		if v.Name == project.VariableProjectHome {
			home = v.Value
		}
	}
	if home == "" {
		return nil
	}
	var names []string
	err := filepath.WalkDir(filepath.Join(home, "metadata"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.EqualFold(filepath.Ext(path), ".json") {
			names = append(names, path)
		}
		return nil // what cannot be read is left out
	})
	if err != nil {
		return err
	}
	for _, path := range slices.Concat(names, []string{filepath.Join(home, "project-config.json")}) {
		data, err := readSmall(path)
		if err != nil {
			continue
		}
		rel, err := filepath.Rel(home, path)
		if err != nil {
			continue
		}
		if err := b.add("project/"+filepath.ToSlash(rel), recorder.WithoutSecrets(data)); err != nil {
			return err
		}
	}
	return nil
}

// shortIDLength is enough of an id to tell executions apart.
const shortIDLength = 18

// mostMetadata bounds one metadata file.
const mostMetadata = 1 << 20

func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, mostMetadata))
}
