//go:build pictures && !headless

package desktop

import (
	"os"
	"path/filepath"
	"testing"

	"fyne.io/fyne/v2/container"

	"sluice/app/presenter"
	"sluice/assets/sample"
	"sluice/engine/project"
)

// metaPictures draws the perspective of metadata: a tested connection, one with long
// names that is wrong, a remote, an environment, a file without a form.
func (s *shown) metaPictures(t *testing.T, shot func(string)) {
	t.Helper()
	t.Setenv("RCLONE_CONFIG_ARCHIVE_TYPE", "memory")
	for name, text := range map[string]string{
		"metadata/rdbms/a-connection-whose-name-is-far-too-long-for-the-tree.json": `{"name":"x","rdbms":{"POSTGRESQL":{"pluginId":"POSTGRESQL","hostname":"${DB_HOST_OF_THE_WAREHOUSE}","port":"54x32","databaseName":"","username":"app","password":"Encrypted 2be98afc86aa7f2e4bb18bd63c99dbdde"}}}`,
		"metadata/rdbms/far.json":                 `{"name":"far","rdbms":{"MYSQL":{"pluginId":"MYSQL","hostname":"db.example","port":"3306","databaseName":"shop","username":"app","password":"${DB_PASSWORD}","attributes":{"EXTRA_OPTION_MYSQL.useSSL":"true","EXTRA_OPTION_MYSQL.connectTimeout":"5000"},"sshTunnelEnabled":true,"sshTunnelHost":"gate.example","sshTunnelUsePrivateKey":true}}}`,
		"metadata/MailServerConnection/post.json": `{"name":"post","serverHost":"${MAIL_SERVER}","password":"Encrypted 2be98afc86aa7f2e4bb18bd63c99dbdde"}`,
		"staging.json":                            `{"variables":[{"name":"DB_HOST","value":"db.example","description":"Server of the shop"},{"name":"DB_PASSWORD","value":"never shown","description":""},{"name":"SLUICE_SNAPSHOTS","value":"snapshots-s3:retail/sluice","description":"Where gates keep rows"}]}`,
	} {
		path := filepath.Join(s.folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.open(filepath.Join(s.folder, sample.Main))
	s.useEnvironment(filepath.Join(s.folder, "staging.json"))
	s.do("go-metadata")
	m := s.meta
	m.choose(presenter.MetaRef{Type: presenter.MetaRemote, Name: "archive"})
	m.now.where = "archive:retail/snapshots"
	m.now.fill()
	s.do("meta-test")
	shot("metadata-remote")
	m.choose(presenter.MetaRef{Type: project.TypeRDBMS, Name: "a-connection-whose-name-is-far-too-long-for-the-tree"})
	s.do("meta-test")
	shot("metadata-wrong")
	m.choose(presenter.MetaRef{Type: project.TypeRDBMS, Name: "orders"})
	s.do("meta-test")
	shot("metadata-connection")
	m.choose(presenter.MetaRef{Type: project.TypeRDBMS, Name: "far"})
	m.now.body.Objects[0].(*container.Scroll).ScrollToBottom()
	shot("metadata-tunnel")
	m.choose(presenter.MetaRef{Type: presenter.MetaEnvironment, Name: "staging"})
	shot("metadata-environment")
	m.choose(presenter.MetaRef{Type: project.TypePipelineRunConfiguration, Name: "local"})
	shot("metadata-run")
	m.choose(presenter.MetaRef{Type: "MailServerConnection", Name: "post"})
	shot("metadata-json")
	s.do("meta-new")
	shot("metadata-new")
	s.dialogs[0].close()
	s.do("environment")
	shot("metadata-environments")
	s.dialogs[0].close()
	for len(m.open) > 0 {
		m.close(m.open[0])
	}
	shot("metadata-empty")
	s.remotePictures(t, shot)
}
