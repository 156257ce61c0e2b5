package project_test

import (
	"os"
	"path/filepath"
	"testing"

	"sluice/engine/project"
)

func TestLocations(t *testing.T) {
	cases := map[string]struct{ in, path, uri string }{
		"plain":              {"/a/b.hpl", "/a/b.hpl", "file:///a/b.hpl"},
		"uri":                {"file:///a/b.hpl", "/a/b.hpl", "file:///a/b.hpl"},
		"one slash":          {"file:/a/b", "/a/b", "file:///a/b"},
		"two slashes":        {"file://a/b", "/a/b", "file:///a/b"},
		"upper case scheme":  {"FILE:///a", "/a", "file:///a"},
		"blank":              {"/a b/c d", "/a b/c d", "file:///a%20b/c%20d"},
		"blank in a uri":     {"file:///a b", "/a b", "file:///a%20b"},
		"escaped blank":      {"file:///a%20b", "/a b", "file:///a%20b"},
		"plain with escape":  {"/a%20b", "/a b", "file:///a%20b"},
		"hash":               {"/a#1", "/a#1", "file:///a%231"},
		"percent sign":       {"/100% done", "/100% done", "file:///100%25%20done"},
		"percent at the end": {"/100%", "/100%", "file:///100%25"},
		"escaped percent":    {"file:///a%2520", "/a%20", "file:///a%2520"},
		"unicode":            {"/ä/日本", "/ä/日本", "file:///ä/日本"},
		"escaped unicode":    {"file:///%C3%A4", "/ä", "file:///ä"},
		"dots":               {"file:///a/./b/../c", "/a/c", "file:///a/c"},
		"slash at the end":   {"file:///a/b/", "/a/b", "file:///a/b"},
		"root":               {"/", "/", "file:///"},
		"mixed":              {"file:///a%20b/c d%.csv", "/a b/c d%.csv", "file:///a%20b/c%20d%25.csv"},
		"question mark":      {"/a?b", "/a?b", "file:///a?b"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path, ok := project.LocalPath(c.in)
			if !ok || path != c.path {
				t.Errorf("LocalPath(%q) = %q, %v, want %q", c.in, path, ok, c.path)
			}
			uri := project.FileURI(c.in)
			if uri != c.uri {
				t.Errorf("FileURI(%q) = %q, want %q", c.in, uri, c.uri)
			}
			if again := project.FileURI(uri); again != uri {
				t.Errorf("FileURI twice gives %q", again)
			}
			if back, _ := project.LocalPath(uri); back != c.path {
				t.Errorf("the URI leads back to %q", back)
			}
		})
	}
}

func TestSchemes(t *testing.T) {
	for in, want := range map[string]string{
		"s3://bucket/x": "s3", "S3://bucket": "s3", "file:///a": "file", "file:x": "file", "hdfs://h:1/x": "hdfs",
		"zip:file:///a.zip!/b": "zip", "C:\\x": "", "c:/x": "", "remote:path": "", "a/b:c": "", "": "", "plain": "",
		"12:00://x": "", "gz:zip:/a": "gz",
	} {
		if got := project.Scheme(in); got != want {
			t.Errorf("Scheme(%q) = %q, want %q", in, got, want)
		}
	}
	for _, in := range []string{"s3://bucket/x", "zip:file:///a.zip!/b"} {
		if path, ok := project.LocalPath(in); ok {
			t.Errorf("LocalPath(%q) = %q", in, path)
		}
		if got := project.FileURI(in); got != in {
			t.Errorf("FileURI(%q) = %q", in, got)
		}
	}
	if path, ok := project.LocalPath(""); !ok || path != "" {
		t.Errorf("empty location: %q, %v", path, ok)
	}
}

func TestRelativeURIsCountFromTheWorkingDirectory(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if got, want := project.FileURI("sub/x"), project.FileURI(dir+"/sub/x"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPipelineVariables(t *testing.T) {
	cases := map[string]struct {
		file string
		want map[string]string
	}{
		"saved": {"/my project/50% off.hpl", map[string]string{
			"Internal.Pipeline.Filename.Name": "50% off.hpl", "Internal.Pipeline.Filename.Directory": "file:///my%20project",
			"Internal.Entry.Current.Folder": "file:///my%20project", "Internal.Pipeline.Name": "n", "Internal.Pipeline.ID": "id", "Internal.Pipeline.ParentID": "up",
		}},
		"as uri": {"file:///my%20project/a%20b.hpl", map[string]string{
			"Internal.Pipeline.Filename.Name": "a b.hpl", "Internal.Pipeline.Filename.Directory": "file:///my%20project",
			"Internal.Entry.Current.Folder": "file:///my%20project",
		}},
		"elsewhere": {"s3://bucket/dir/a.hpl", map[string]string{
			"Internal.Pipeline.Filename.Name": "a.hpl", "Internal.Pipeline.Filename.Directory": "s3://bucket/dir", "Internal.Entry.Current.Folder": "s3://bucket/dir",
		}},
		"never saved": {"", map[string]string{
			"Internal.Pipeline.Filename.Name": "", "Internal.Pipeline.Filename.Directory": "", "Internal.Entry.Current.Folder": "before",
		}},
		"in the root": {"/a.hpl", map[string]string{"Internal.Pipeline.Filename.Directory": "file:///"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			scope := scopeOf(map[string]string{"Internal.Workflow.Name": "parent", "Internal.Entry.Current.Folder": "before"})
			project.SetPipelineVariables(scope, project.Running{File: c.file, Name: "n", ID: "id", ParentID: "up"})
			for name, want := range c.want {
				if got, ok := scope.Get(name); !ok || got != want {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
			if got, _ := scope.Get("Internal.Workflow.Name"); got != "parent" {
				t.Errorf("the workflow's variable became %q", got)
			}
		})
	}
}

func TestWorkflowAndTransformVariables(t *testing.T) {
	scope := project.NewVariables()
	project.SetWorkflowVariables(scope, project.Running{File: "/w/main.hwf", Name: "main", ID: "1"})
	project.SetTransformVariables(scope, project.TransformCopy{Name: "Sort", Copy: 2, ID: "t"})
	for name, want := range map[string]string{
		"Internal.Workflow.Filename.Name": "main.hwf", "Internal.Workflow.Filename.Folder": "file:///w", "Internal.Workflow.Name": "main",
		"Internal.Entry.Current.Folder": "file:///w", "Internal.Workflow.ParentID": "", "Internal.Transform.Name": "Sort", "Internal.Transform.CopyNr": "2",
	} {
		if got, ok := scope.Get(name); !ok || got != want {
			t.Errorf("%s = %q, %v, want %q", name, got, ok, want)
		}
	}
	if _, ok := scope.Get("Internal.Transform.Partition.ID"); ok {
		t.Error("a transform that is not partitioned has a partition")
	}
	project.SetTransformVariables(scope, project.TransformCopy{Name: "Sort", PartitionID: "P2", PartitionNumber: 1})
	if got, _ := scope.Get("Internal.Transform.Partition.Number"); got != "1" {
		t.Errorf("partition number %q", got)
	}
}

func TestSystemVariables(t *testing.T) {
	env := map[string]string{"HOP_CONFIG_FOLDER": "/c", "HOP_AES_ENCODER_KEY": "k", "PATH": "/bin", "DB_HOST": "h"}
	scope := project.SystemVariables(project.System{
		Version: "1.2", Runtime: "Run", WorkDir: "/work", HomeDir: "/home/u", TempDir: "/tmp", User: "u",
		Getenv: func(name string) string { return env[name] },
	})
	for name, want := range map[string]string{
		"java.io.tmpdir": "/tmp", "user.home": "/home/u", "user.dir": "/work", "user.name": "u", "file.separator": "/", "path.separator": ":",
		"line.separator": "\n", "HOP_VERSION": "1.2", "HOP_PLATFORM_RUNTIME": "Run", "HOP_CONFIG_FOLDER": "/c", "HOP_AES_ENCODER_KEY": "k",
	} {
		if got, ok := scope.Get(name); !ok || got != want {
			t.Errorf("%s = %q, %v, want %q", name, got, ok, want)
		}
	}
	for _, name := range []string{"PATH", "DB_HOST", "HOP_AUDIT_FOLDER", "HOP_EMPTY_STRING_DIFFERS_FROM_NULL"} {
		if got, ok := scope.Get(name); ok {
			t.Errorf("%s is defined as %q", name, got)
		}
	}
	asked := project.SystemVariables(project.System{})
	for _, name := range []string{"java.io.tmpdir", "user.home", "user.dir", "os.name", "HOP_PLATFORM_OS"} {
		if got, _ := asked.Get(name); got == "" {
			t.Errorf("%s is empty", name)
		}
	}
	if dir, _ := asked.Get("user.dir"); dir != must(os.Getwd()) {
		t.Errorf("user.dir is %q", dir)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestPathURI(t *testing.T) {
	for path, want := range map[string]string{"/a%20b": "file:///a%2520b", "/a b": "file:///a%20b"} {
		got := project.PathURI(path)
		if got != want {
			t.Errorf("PathURI(%q) = %q, want %q", path, got, want)
		}
		if back, _ := project.LocalPath(got); back != path {
			t.Errorf("%q leads back to %q", got, back)
		}
	}
}
