package presenter_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/app/presenter"
	"sluice/engine/project"
	"sluice/storage"
	"sluice/storage/rclone"
)

// keptRemotes are remotes in memory; a secret is what is named so here.
type keptRemotes map[string]rclone.Settings

func (k keptRemotes) Settings(_ context.Context, name string) (rclone.Settings, error) {
	s := k[name]
	s.From, s.Kept = name, nil
	values := map[string]string{}
	for key, value := range s.Values {
		if strings.Contains(key, "secret") || strings.Contains(key, "access_key") || key == "pass" {
			s.Kept = append(s.Kept, key)
		} else {
			values[key] = value
		}
	}
	s.Values = values
	slices.Sort(s.Kept)
	return s, nil
}

func (k keptRemotes) SaveRemote(_ context.Context, s rclone.Settings) error {
	old := k[s.From].Values
	values := maps.Clone(s.Values)
	if values == nil {
		values = map[string]string{}
	}
	for _, key := range s.Kept {
		if _, typed := values[key]; !typed {
			values[key] = old[key]
		}
	}
	s.Values = values
	k[s.Name] = s
	return nil
}

func (k keptRemotes) CopyRemote(context.Context, string, string) error   { return nil }
func (k keptRemotes) RenameRemote(context.Context, string, string) error { return nil }
func (k keptRemotes) RemoveRemote(context.Context, string) error         { return nil }
func (k keptRemotes) TestSettings(_ context.Context, s rclone.Settings, path string, each func(rclone.Step)) *rclone.Report {
	each(rclone.Step{Name: "write", Took: time.Second})
	return &rclone.Report{Location: s.Name + ":" + path}
}

func optionNamed(t *testing.T, d *presenter.RemoteDraft, name string) *rclone.Option {
	t.Helper()
	usual, advanced := d.Fields()
	for _, o := range append(usual, advanced...) {
		if o.Name == name {
			return o
		}
	}
	t.Fatalf("%s has no option %s", d.Backend.Type, name)
	return nil
}

func save(t *testing.T, d *presenter.RemoteDraft, k presenter.RemoteKeeper) error {
	t.Helper()
	s := d.Saving()
	if err := s.Write(t.Context(), k); err != nil {
		return err
	}
	d.Saved(s)
	return nil
}

func TestWhatIsTypedWhileARemoteIsSavedIsNotSaved(t *testing.T) {
	keeper := keptRemotes{}
	b, _ := rclone.FindBackend("sftp")
	d := presenter.NewRemote("in", b)
	host, port := optionNamed(t, d, "host"), optionNamed(t, d, "port")
	d.Set(host, "in.example")
	s := d.Saving()
	d.Set(port, "23")
	must(t, s.Write(t.Context(), keeper))
	d.Saved(s)
	if !d.Dirty() || d.Text(port) != "23" || keeper["in"].Values["port"] != "" {
		t.Errorf("dirty %v, port %q, kept %v", d.Dirty(), d.Text(port), keeper["in"].Values)
	}
	must(t, save(t, d, keeper))
	if d.Dirty() || keeper["in"].Values["port"] != "23" {
		t.Errorf("dirty %v, kept %v", d.Dirty(), keeper["in"].Values)
	}
}

func TestARemoteIsMade(t *testing.T) {
	keeper := keptRemotes{}
	b, _ := rclone.FindBackend("sftp")
	d := presenter.NewRemote("in", b)
	if usual, advanced := d.Fields(); usual[0].Name != "host" || len(advanced) < 10 {
		t.Errorf("%s is first, %d are advanced", usual[0].Name, len(advanced))
	}
	host, port, pass := optionNamed(t, d, "host"), optionNamed(t, d, "port"), optionNamed(t, d, "pass")
	if p := d.Problems(); p["host"] != "Host is empty" || len(p) != 1 {
		t.Errorf("%v", p)
	}
	d.Set(host, "in.example")
	d.Set(port, "twenty")
	d.Set(pass, "topsecret")
	if p := d.Problems(); p["port"] == "" || len(p) != 1 {
		t.Errorf("%v", p)
	}
	d.Set(port, "")
	if !d.Dirty() || d.Stored() {
		t.Error("a new remote is kept already")
	}
	must(t, save(t, d, keeper))
	if d.Dirty() || !d.Stored() || !d.Keeps(pass) || d.Text(pass) != "" {
		t.Errorf("after saving: dirty %v, keeps %v, text %q", d.Dirty(), d.Keeps(pass), d.Text(pass))
	}
	if got := keeper["in"].Values; got["host"] != "in.example" || got["pass"] != "topsecret" || got["port"] != "" {
		t.Errorf("%v", got)
	}
	d.Set(host, "out.example")
	d.Revert()
	if d.Dirty() || d.Text(host) != "in.example" {
		t.Error("the draft was not given up")
	}
	d.Set(host, "out.example")
	keeper["in"].Values["user"] = "bob"
	if err := save(t, d, keeper); !errors.Is(err, project.ErrChanged) {
		t.Errorf("somebody else's change is lost: %v", err)
	}
	delete(keeper["in"].Values, "user")
	d.Forget(pass)
	must(t, save(t, d, keeper))
	if keeper["in"].Values["pass"] != "" || keeper["in"].Values["host"] != "out.example" || d.Keeps(pass) {
		t.Error("the password stayed")
	}
}

func TestTheProviderDecidesWhatIsOffered(t *testing.T) {
	b, _ := rclone.FindBackend("s3")
	d := presenter.NewRemote("lake", b)
	provider := optionNamed(t, d, "provider")
	if usual, _ := d.Fields(); usual[0] != provider {
		t.Errorf("%s is first", usual[0].Name)
	}
	d.Set(provider, "AWS")
	regions := len(d.Choices(optionNamed(t, d, "region")))
	d.Set(provider, "Minio")
	usual, _ := d.Fields()
	if regions < 10 || len(d.Choices(optionNamed(t, d, "region"))) >= regions || slices.ContainsFunc(usual, func(o *rclone.Option) bool { return o.Name == "storage_class" }) {
		t.Error("Minio has what AWS has")
	}
	if label := presenter.OptionLabel(optionNamed(t, d, "access_key_id")); label != "Access key ID" {
		t.Errorf("%q", label)
	}
}

func TestABrowserLoginIsRclones(t *testing.T) {
	d := presenter.NewRemote("my drive", rclone.Backend{Type: "drive", Login: true})
	if !d.NeedsLogin() || d.Dirty() || d.LoginCommand() != `rclone config create "my drive" drive` {
		t.Errorf("%v, %s", d.NeedsLogin(), d.LoginCommand())
	}
	gcs, _ := rclone.FindBackend("google cloud storage")
	if d := presenter.NewRemote("gs", gcs); d.NeedsLogin() || d.LoginCommand() != `rclone config create gs "google cloud storage"` {
		t.Errorf("%v, %s", d.NeedsLogin(), d.LoginCommand())
	}
}

func TestNamesOfRemotes(t *testing.T) {
	taken := []rclone.Info{{Name: "lake"}}
	for name, good := range map[string]bool{"pond": true, "": false, "a/b": false, "a:b": false, "LAKE": false, "-x": false} {
		if problem := presenter.CheckRemoteName(name, taken); (problem == "") != good {
			t.Errorf("%q: %q", name, problem)
		}
	}
}

func TestUsesOfARemote(t *testing.T) {
	s := metaStore(t)
	must(t, os.WriteFile(filepath.Join(s.Home, "staging.json"), []byte(`{"variables":[{"name":"SLUICE_SNAPSHOTS","value":"lake:shop/gates"},{"name":"OTHER","value":"lakes:x"}]}`), 0o600))
	scope := project.NewVariables()
	scope.Set("SLUICE_SNAPSHOTS", "lake:shop/gates")
	uses, err := presenter.FindRemoteUses(t.Context(), s, scope, "lake")
	must(t, err)
	var texts []string
	for _, u := range uses {
		texts = append(texts, u.String())
	}
	count := presenter.CountRemoteUses(uses)
	if !slices.Contains(texts, "variable SLUICE_SNAPSHOTS of staging.json") || !strings.Contains(count, "gate") || !strings.Contains(count, "1 variable") {
		t.Errorf("%s: %q", count, texts)
	}
	if where := presenter.HomeOfRemote(uses); where != "lake:shop/gates" {
		t.Errorf("%q", where)
	}
	if uses, err = presenter.FindRemoteUses(t.Context(), s, scope, "pond"); err != nil || len(uses) != 0 {
		t.Errorf("%v, %v", uses, err)
	}
}

func TestADraftIsTestedUnsaved(t *testing.T) {
	b, _ := rclone.FindBackend("sftp")
	r := presenter.TestDraft(t.Context(), keptRemotes{}, presenter.NewRemote("in", b).Settings(), "x", time.Now, func(presenter.MetaStep) {})
	if r.Title != "Test passed, good for gates" || len(r.Steps) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestAnErrorOfStorageSaysWhatToDo(t *testing.T) {
	message, hint := presenter.Explain(&storage.Error{Op: "read", Location: "rclone.conf", Err: storage.ErrConfig, Hint: "Set the password."})
	if !strings.Contains(message, "rclone.conf") || hint != "Set the password" {
		t.Errorf("%q, %q", message, hint)
	}
}
