package rclone

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rclone/rclone/fs/config"
	"github.com/rclone/rclone/fs/config/configfile"

	"sluice/storage"
)

// loadFile reads rclone.conf; a missing one is empty. The error says nothing
// of its content: a parser may quote the line it fails at.
func loadFile(path string) (*configfile.Storage, error) {
	file := &configfile.Storage{}
	err := file.Load()
	if err == nil || errors.Is(err, config.ErrorConfigFileNotFound) {
		return file, nil
	}
	e := &storage.Error{
		Op: "read", Location: path, Hint: "Check that the file is an rclone.conf.",
		Err: fmt.Errorf("%w: it cannot be read%s", storage.ErrConfig, systemCause(err)),
	}
	if isEncrypted(path) {
		e.Err = fmt.Errorf("%w: it is encrypted and its password is missing or wrong", storage.ErrConfig)
		e.Hint = "Set RCLONE_CONFIG_PASS to its password and start this program again, or take the encryption away with: rclone config encryption remove"
	}
	return nil, e
}

// encryptedMark is the first line of an encrypted rclone.conf that is no comment.
const encryptedMark = "RCLONE_ENCRYPT_"

func isEncrypted(path string) bool {
	data, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line != "" && line[0] != ';' && line[0] != '#' {
			return strings.HasPrefix(line, encryptedMark)
		}
	}
	return false
}

// maxRewrites is how often a change is tried when others write the file too.
const maxRewrites = 3

var errOvertaken = errors.New("somebody else wrote it at the same time")

// rewrite reads the file, changes it and puts it in its place at one go, with
// its mode and, where that is possible, its group. rclone's own Save moves the
// old file away first, so that a crash leaves none. process.mu is held.
func rewrite(path string, change func(config.Storage) error) error {
	var err error
	for range maxRewrites {
		if err = rewriteOnce(path, change); !errors.Is(err, errOvertaken) {
			break
		}
	}
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*storage.Error](err); ok || errors.Is(err, storage.ErrConfig) {
		return err
	}
	return &storage.Error{Op: "write", Location: path, Err: fmt.Errorf("%w: %w", storage.ErrConfig, err), Hint: "Check that you may write the file and its folder; it is as it was."}
}

func rewriteOnce(path string, change func(config.Storage) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	before, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := loadFile(path)
	if err != nil {
		return err
	}
	if err := unharmed(file); err != nil {
		return err
	}
	if err := change(file); err != nil {
		return err
	}
	text, err := file.Serialize()
	if err != nil {
		return err
	}
	data := []byte(text)
	if isEncrypted(path) {
		var sealed bytes.Buffer
		if err := config.Encrypt(strings.NewReader(text), &sealed); err != nil {
			return err
		}
		data = sealed.Bytes()
	}
	return replace(path, data, before)
}

// unharmed refuses a file that rclone's own writer would change elsewhere.
func unharmed(file config.Storage) error {
	for _, section := range file.GetSectionList() {
		for _, key := range file.GetKeyList(section) {
			if value, _ := file.GetValue(section, key); strings.Contains(value, "`") {
				return &storage.Error{
					Op: "write", Location: "rclone.conf", Err: fmt.Errorf("%w: %s of [%s] has a backquote, which writing the file would change", storage.ErrConfig, key, section),
					Hint: "Change the file by hand.",
				}
			}
		}
	}
	return nil
}

// replace puts data in the place of a file that looked as before (nil: there
// was none) when it was read.
func replace(path string, data []byte, before fs.FileInfo) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(folder, "."+filepath.Base(path)+".*.tmp") // 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp.Name()) }() // it has gone when all went well
	_, err = temp.Write(data)
	if before != nil {
		keepGroup(temp, before)
		err = errors.Join(err, temp.Chmod(before.Mode().Perm()))
	}
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	now, err := os.Stat(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case (before == nil) != (err != nil), before != nil && (!now.ModTime().Equal(before.ModTime()) || now.Size() != before.Size()):
		return errOvertaken
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return err
	}
	return syncFolder(folder)
}
