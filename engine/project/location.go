package project

import (
	"path"
	"path/filepath"
	"strings"
)

// Hop hands folders around as URIs (file:///a%20b) and takes both URIs and
// plain paths wherever a file is named. The escapes are those of the file
// system library below Hop: only %, # and the blank are written as escapes,
// any valid escape is read.

const fileScheme = "file"

// Scheme returns the scheme of a location in lower case, such as file, s3 or
// zip, and "" for a plain path. One letter before a colon is a drive, not a
// scheme.
func Scheme(location string) string {
	scheme, _, found := strings.Cut(location, ":")
	if !found || len(scheme) < 2 {
		return ""
	}
	for i, r := range scheme {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		other := r >= '0' && r <= '9' || r == '+' || r == '-' || r == '.'
		if !letter && (i == 0 || !other) {
			return ""
		}
	}
	rest := location[len(scheme)+1:]
	layered := Scheme(rest) != "" // such as zip:file:///a.zip!/b
	if !strings.HasPrefix(rest, "/") && !layered && !strings.EqualFold(scheme, fileScheme) {
		return "" // "remote:path" belongs to whoever knows the remotes
	}
	return strings.ToLower(scheme)
}

// FileURI returns the file:///… URI of a local path, with forward slashes and
// without a slash at the end. A relative path counts from the working
// directory of the process, as in Hop. Locations of another scheme and file
// URIs come back as the same place, so the function may be applied twice.
func FileURI(location string) string {
	local, ok := LocalPath(location)
	if !ok {
		return location
	}
	return PathURI(local)
}

// PathURI is [FileURI] for a path that is known to be one, such as the answer
// of a file dialog: percent signs in it are part of the name.
func PathURI(local string) string {
	if absolute, err := filepath.Abs(local); err == nil {
		local = absolute
	}
	return fileScheme + ":///" + escapePath(strings.TrimLeft(filepath.ToSlash(local), "/"))
}

// LocalPath returns the local path of a file URI or of a plain path, cleaned,
// and false when the location belongs to another scheme. Valid percent escapes
// are decoded in both forms, as Hop does; a percent sign that starts none is
// kept. An empty location stays empty.
func LocalPath(location string) (string, bool) {
	if location == "" {
		return "", true
	}
	switch Scheme(location) {
	case "":
		return filepath.Clean(unescapePath(location)), true
	case fileScheme:
		rest := location[len(fileScheme)+1:]
		slashed := rest
		if strings.HasPrefix(rest, "/") {
			slashed = "/" + strings.TrimLeft(rest, "/")
		}
		slashed = unescapePath(slashed)
		if hasDrive(slashed) {
			slashed = slashed[1:]
		}
		return filepath.Clean(filepath.FromSlash(slashed)), true
	}
	return "", false
}

// hasDrive recognises /C:/… of a Windows file URI.
func hasDrive(slashed string) bool {
	return len(slashed) >= 3 && slashed[0] == '/' && slashed[2] == ':' &&
		(slashed[1] >= 'a' && slashed[1] <= 'z' || slashed[1] >= 'A' && slashed[1] <= 'Z')
}

// splitLocation returns the URI of the folder that holds a file and the file's
// base name.
func splitLocation(location string) (folder, base string) {
	if local, ok := LocalPath(location); ok {
		return PathURI(filepath.Dir(local)), filepath.Base(local)
	}
	at := strings.LastIndexByte(location, '/')
	return location[:at], unescapePath(path.Base(location))
}

func escapePath(text string) string {
	return strings.NewReplacer("%", "%25", "#", "%23", " ", "%20").Replace(text)
}

func unescapePath(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			high, low := hexDigit(text[i+1]), hexDigit(text[i+2])
			if high >= 0 && low >= 0 {
				out.WriteByte(byte(high<<4 | low))
				i += 2
				continue
			}
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

func hexDigit(c byte) int {
	return strings.IndexByte("0123456789abcdef", c|0x20)
}
