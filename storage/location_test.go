package storage_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"sluice/storage"
)

func TestParseLocation(t *testing.T) {
	base := t.TempDir()
	schemes := map[string]string{
		"s3": "minio:", "azure": "az:", "gs": "google:base/path", "hdfs": "hadoop:", "hdfs://other:8020": "hadoop2:",
		"sftp": "box:", "sftp://nas": "nas:share",
	}
	for text, want := range map[string]storage.Location{
		"remote:path/to":         {Remote: "remote", Path: "path/to"},
		"remote:":                {Remote: "remote"},
		"my remote-1:a//b/":      {Remote: "my remote-1", Path: "a/b"},
		"sftpbox:/abs/path":      {Remote: "sftpbox", Path: "/abs/path"},
		" remote:x ":             {Remote: "remote", Path: "x"},
		"remote:a:b":             {Remote: "remote", Path: "a:b"},
		":memory:bucket":         {Remote: ":memory", Path: "bucket"},
		"/data/snapshots":        {Path: "/data/snapshots"},
		"/data/../x/":            {Path: "/x"},
		"./rel":                  {Path: filepath.Join(base, "rel")},
		"../up":                  {Path: filepath.Join(filepath.Dir(base), "up")},
		".":                      {Path: base},
		"file:///tmp/a%20b":      {Path: "/tmp/a b"},
		"file://localhost/tmp":   {Path: "/tmp"},
		"s3://bucket/key/x":      {Remote: "minio", Path: "bucket/key/x"},
		"S3://bucket":            {Remote: "minio", Path: "bucket"},
		"s3a://bucket/k":         {Remote: "minio", Path: "bucket/k"},
		"azfs://cont/dir":        {Remote: "az", Path: "cont/dir"},
		"azure://cont/dir":       {Remote: "az", Path: "cont/dir"},
		"gs://b/x":               {Remote: "google", Path: "base/path/b/x"},
		"gcs://b/x":              {Remote: "google", Path: "base/path/b/x"},
		"hdfs://name:8020/data":  {Remote: "hadoop", Path: "/data"},
		"hdfs://other:8020/data": {Remote: "hadoop2", Path: "/data"},
		"hdfs:///data":           {Remote: "hadoop", Path: "/data"},
		"sftp://user@box/home/x": {Remote: "box", Path: "/home/x"},
		"sftp://nas/x":           {Remote: "nas", Path: "share/x"},
		"s3://bucket/100%":       {Remote: "minio", Path: "bucket/100%"},
		"s3://bucket/ä ö":        {Remote: "minio", Path: "bucket/ä ö"},
	} {
		t.Run(text, func(t *testing.T) {
			got, err := storage.ParseLocation(text, storage.Parsing{Schemes: schemes, Base: base})
			if err != nil || got != want {
				t.Errorf("%+v, %v, want %+v", got, err, want)
			}
		})
	}
}

func TestParseLocationRefuses(t *testing.T) {
	for text, c := range map[string]struct {
		want error
		hint string
	}{
		"":                                    {storage.ErrBadLocation, "remote:path"},
		"myremote":                            {storage.ErrBadLocation, `"myremote:"`},
		"data/out":                            {storage.ErrBadLocation, `"./data/out"`},
		"./rel":                               {storage.ErrBadLocation, "absolute"},
		"${SLUICE_SNAPSHOTS}/x":               {storage.ErrBadLocation, "variable"},
		"s3://bucket/x":                       {storage.ErrUnknownRemote, "s3://"},
		"ftp://host/x":                        {storage.ErrUnknownRemote, "ftp://"},
		":s3,secret_access_key=topsecret:bkt": {storage.ErrBadLocation, "rclone config"},
		"remote,chunk_size=1M:x":              {storage.ErrBadLocation, "rclone config"},
		"sftp://user:topsecret@host/x":        {storage.ErrBadLocation, "rclone.conf"},
		"file://host/x":                       {storage.ErrBadLocation, "three slashes"},
		"s3://bucket/x?versionId=1":           {storage.ErrBadLocation, ""},
		"-remote:x":                           {storage.ErrBadLocation, "rclone.conf"},
	} {
		t.Run(text, func(t *testing.T) {
			_, err := storage.ParseLocation(text, storage.Parsing{})
			if !errors.Is(err, c.want) || !strings.Contains(storage.Hint(err), c.hint) {
				t.Errorf("%v, hint %q", err, storage.Hint(err))
			}
			if strings.Contains(err.Error()+storage.Hint(err), "topsecret") {
				t.Errorf("the error holds the secret: %v", err)
			}
		})
	}
	for _, text := range []string{":memory,global.low_level_retries=77:x", "r,override.x=1:x", "r,a=b,global.y=1:"} {
		if _, err := storage.ParseLocation(text, storage.Parsing{AllowOptions: true}); !errors.Is(err, storage.ErrBadLocation) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestLocationJoinAndDir(t *testing.T) {
	for _, c := range []struct {
		l         storage.Location
		joined    string
		dir, name string
	}{
		{storage.Location{Remote: "r", Path: "a/b"}, "r:a/b/x/y", "r:a", "b"},
		{storage.Location{Remote: "r"}, "r:x/y", "r:", ""},
		{storage.Location{Remote: "r", Path: "/top"}, "r:/top/x/y", "r:/", "top"},
		{storage.Location{Remote: "r", Path: "file.csv"}, "r:file.csv/x/y", "r:", "file.csv"},
		{storage.Location{Path: "/data/f.csv"}, "/data/f.csv/x/y", "/data", "f.csv"},
	} {
		dir, name := c.l.Dir()
		if got := c.l.Join("x", "y").String(); got != c.joined || dir.String() != c.dir || name != c.name {
			t.Errorf("%s: joined %s, dir %s, name %s", c.l, got, dir, name)
		}
	}
}

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		`:s3,provider=Rclone,secret_access_key="a:b,c":bkt/x`: ":s3,***:bkt/x",
		"open remote,pass=hunter2:dir: no":                    "open remote,***:dir: no",
		"get https://user:hunter2@host/x":                     "get https://***@host/x",
		"plain remote:path, and a comma":                      "plain remote:path, and a comma",
		"1,000 bytes":                                         "1,000 bytes",
	} {
		if got := storage.Redact(text); got != want {
			t.Errorf("%q → %q, want %q", text, got, want)
		}
	}
}
