package rclone

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/rclone/rclone/fs"
	"github.com/rclone/rclone/fs/config/obscure"

	"sluice/storage"
)

// minSecret is the shortest value that is replaced wherever it occurs;
// shorter ones would tear ordinary words.
const minSecret = 4

// secrets knows the secret values of the remotes that were opened.
type secrets struct {
	mu     sync.RWMutex
	values []string // longest first
}

var (
	secretPair  = regexp.MustCompile(`(?i)((?:[a-z0-9_-]*(?:sig|signature|token|password|passwd|pass|secret|credential|api_?key|access_key[a-z_]*|account_?key|authorization|bearer))["']?\s*[=:]\s*)("(?:[^"]*)"|'(?:[^']*)'|[^\s&,;"']+)`)
	secretName  = regexp.MustCompile(`pass|secret|token|key|sas|credential|code|auth|pem`)
	bearerToken = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9+/_=.~-]{8,}`)
)

// add remembers a value.
func (s *secrets) add(value string) {
	if len(value) < minSecret {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.values, value) {
		return
	}
	s.values = append(s.values, value)
	slices.SortFunc(s.values, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
}

// learn remembers the passwords and sensitive options of a remote, from its
// section, the environment or the connection string.
func (s *secrets) learn(remote string) {
	info, _, _, values, err := fs.ConfigFs(remote)
	if err != nil {
		return // NewFs will say why
	}
	for _, option := range info.Options {
		// Hosts and user names are sensitive for rclone, but an error without
		// them helps nobody.
		if !option.IsPassword && (!option.Sensitive || !secretName.MatchString(option.Name)) {
			continue
		}
		value, ok := values.Get(option.Name)
		if !ok {
			continue
		}
		s.add(value)
		if option.IsPassword {
			if plain, err := obscure.Reveal(value); err == nil {
				s.add(plain)
			}
		}
	}
}

// redact takes known secrets out of a text, and what looks like one.
func (s *secrets) redact(text string) string {
	s.mu.RLock()
	for _, value := range s.values {
		text = strings.ReplaceAll(text, value, "***")
	}
	s.mu.RUnlock()
	text = bearerToken.ReplaceAllString(text, "$1 ***")
	text = secretPair.ReplaceAllString(text, "$1***")
	return storage.Redact(text)
}
