//go:build pictures && !headless

package desktop

import (
	"os"
	"path/filepath"
	"testing"

	"sluice/app/presenter"
	"sluice/engine/pipeline"
)

// remotePictures draws remotes: the question for a new one, one that is wrong, one
// that holds snapshots, one for rclone's own dialogue, a removal.
func (s *shown) remotePictures(t *testing.T, shot func(string)) {
	t.Helper()
	m := s.meta
	conf := filepath.Join(filepath.Dir(s.folder), "rclone.conf")
	t.Setenv("RCLONE_CONFIG", conf)
	held := filepath.Join(s.folder, "retail")
	text := "[snapshots-s3]\ntype = s3\nprovider = Minio\naccess_key_id = never-shown\nsecret_access_key = never-shown\nendpoint = https://s3.example\nregion = eu-north-1\nupload_cutoff = 64Mi\n\n" +
		"[exports]\ntype = alias\nremote = " + filepath.ToSlash(held) + "\n\n" +
		"[a-remote-whose-name-is-far-too-long-for-the-tree-and-for-its-tab]\ntype = sftp\nhost = " + "a-host-with-a-name-that-is-far-too-long-to-be-shown-in-full-anywhere.example\nport = 22\n"
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	variables := `{"variables":[{"name":"SLUICE_SNAPSHOTS","value":"exports:gates","description":"Where gates keep rows"}]}`
	if err := os.WriteFile(filepath.Join(s.folder, "staging.json"), []byte(variables), 0o600); err != nil {
		t.Fatal(err)
	}
	s.do("go-designer")
	s.open(filepath.Join(s.folder, "load-orders.hpl"))
	s.current.run(s.current.options, pipeline.Run{}, nil)
	s.do("go-metadata")
	m.reload()
	m.choose(presenter.MetaRef{Type: presenter.MetaRemote, Name: "exports"})
	s.do("meta-test")
	shot("remote-contents")
	m.now.askRemoval("exports", m.now.farUses)
	shot("remote-delete")
	s.dialogs[0].close()
	m.choose(presenter.MetaRef{Type: presenter.MetaRemote, Name: "snapshots-s3"})
	m.now.where = "snapshots-s3:retail/sluice"
	m.now.fill()
	shot("remote-s3")
	m.now.far.Set(m.remoteOption(t, "endpoint"), "http://localhost:1")
	s.do("meta-test")
	m.now.farForm.fold(true)
	m.now.far.Set(m.remoteOption(t, "chunk_size"), "five")
	m.now.fill()
	shot("remote-wrong")
	m.now.giveUp()
	m.choose(presenter.MetaRef{Type: presenter.MetaRemote, Name: "a-remote-whose-name-is-far-too-long-for-the-tree-and-for-its-tab"})
	shot("remote-long")
	s.do("remote-new")
	shot("remote-new")
	s.dialogs[0].close()
	s.setUp(t, "in-sftp", "sftp")
	shot("remote-fresh")
	m.now.giveUp()
	s.setUp(t, "gs", "google cloud storage")
	shot("remote-login")
}
