package project_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha1"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sluice/engine/project"
)

// The encodings are those that Hop's own tests expect.
var hopPasswords = map[string]string{
	"":                                    "Encrypted ",
	"     ":                               "Encrypted 2be98afc86aa7f2e4cb79ce309ed2ef9a",
	"Test of different encryptions!!@#$%": "Encrypted 54657374206f6620646966666572656e742067d0fbddb11ad39b8ba50aef31fed1eb9f",
	"  Spaces left":                       "Encrypted 2be98afe84af48285a81cbd30d297a9ce",
	"Spaces right":                        "Encrypted 2be98afc839d79387ae0aee62d795a7ce",
	"     Spaces  ":                       "Encrypted 2be98afe84a87d2c49809af73db81ef9a",
	"1234567890":                          "Encrypted 2be98afc86aa7c3d6f84dfb2689caf68a",
	"String":                              "Encrypted 2be98afc86aa7f2e4cb799d64cc9ba1dd",
	" %% VAR String":                      "Encrypted 2be988fed4f87a4a599599d64cc9ba1dd",
	"${%%$$$$":                            "Encrypted 2be98afc86aa7f2e4ef02eb359ad6eb9e",
	"integration-test-pwd":                "Encrypted 696e7467d9eacebc03c89cc9bf1cbd649382b8de",
}

func TestHopPasswords(t *testing.T) {
	for plain, encoded := range hopPasswords {
		if got := project.EncodePassword(plain); got != encoded {
			t.Errorf("EncodePassword(%q) = %q, want %q", plain, got, encoded)
		}
		got, err := project.DecodePassword(encoded, project.PasswordKeys{})
		if err != nil || got.Reveal() != plain {
			t.Errorf("DecodePassword(%q) = %q, %v, want %q", encoded, got.Reveal(), err, plain)
		}
	}
}

func TestPasswordsRoundTrip(t *testing.T) {
	// Letters above 7F make the number negative; lengths around that of the
	// seed change which of the two is longer.
	for _, plain := range []string{
		"é", "éa", "ÿ", "日本語パスワード", "a", "\x01", "\u0080", "x\x00y", "漢", "🙂 long enough to pass the seed",
		strings.Repeat("ä", 8), strings.Repeat("z", 15), strings.Repeat("z", 16), strings.Repeat("é", 9), strings.Repeat("q", 300),
	} {
		encoded := project.EncodePassword(plain)
		got, err := project.DecodePassword(encoded, project.PasswordKeys{})
		if err != nil || got.Reveal() != plain {
			t.Errorf("%q became %q and then %q, %v", plain, encoded, got.Reveal(), err)
		}
	}
	if got := project.EncodePassword("éa"); !strings.HasPrefix(got, "Encrypted -") {
		t.Errorf("a first byte above 7F is a negative number in Hop, got %q", got)
	}
}

func TestPasswordsWithVariablesStayClear(t *testing.T) {
	for _, text := range []string{"${VAR}", " %%VAR%% String", " ${VAR} String", "#{vault:a:b}"} {
		if got := project.EncodePassword(text); got != text {
			t.Errorf("EncodePassword(%q) = %q", text, got)
		}
	}
}

func sealECB(key, plain string) string {
	sum := sha1.Sum([]byte(key))
	block, _ := aes.NewCipher(sum[:16])
	padding := 16 - len(plain)%16
	data := append([]byte(plain), bytes.Repeat([]byte{byte(padding)}, padding)...)
	for at := 0; at < len(data); at += 16 {
		block.Encrypt(data[at:], data[at:])
	}
	return "AES " + base64.StdEncoding.EncodeToString(data)
}

func sealGCM(key, plain string, nonce []byte, stored bool) string {
	sum := sha512.Sum512([]byte(key))
	block, _ := aes.NewCipher(sum[:16])
	gcm, _ := cipher.NewGCMWithNonceSize(block, len(nonce))
	data := gcm.Seal(nil, nonce, []byte(plain), nil)
	if stored {
		data = append(slices.Clone(nonce), data...)
	}
	return "AES2 " + base64.StdEncoding.EncodeToString(data)
}

func TestAESPasswords(t *testing.T) {
	const key, plain = "a key of one's own", "pässword"
	sum := sha512.Sum512([]byte(key))
	texts := map[string]string{
		"AES":                           sealECB(key, plain),
		"AES2":                          sealGCM(key, plain, []byte("123456789012"), true),
		"AES2 with the key as its once": sealGCM(key, plain, sum[:16], false),
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			got, err := project.DecodePassword(text, project.PasswordKeys{AES: project.NewSecret(key)})
			if err != nil || got.Reveal() != plain {
				t.Errorf("got %q, %v", got.Reveal(), err)
			}
			if _, err := project.DecodePassword(text, project.PasswordKeys{}); !errors.Is(err, project.ErrNoPasswordKey) {
				t.Errorf("without a key: %v", err)
			}
			got, err = project.DecodePassword(text, project.PasswordKeys{AES: project.NewSecret("other")})
			if !errors.Is(err, project.ErrBadPassword) {
				t.Errorf("with another key: %q, %v", got.Reveal(), err)
			}
		})
	}
}

func TestBadPasswords(t *testing.T) {
	keys := project.PasswordKeys{AES: project.NewSecret("k")}
	for name, text := range map[string]string{
		"not hex": "Encrypted secretword", "underscore": "Encrypted 2be9_8afc", "hex sign": "Encrypted 0x12",
		"not base64": "AES ***", "no whole block": "AES AAAA", "too short": "AES2 AAAA",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := project.DecodePassword(text, keys)
			if !errors.Is(err, project.ErrBadPassword) {
				t.Errorf("error %v", err)
			}
			if err != nil && strings.Contains(err.Error(), strings.Fields(text)[1]) {
				t.Errorf("the error shows the password: %v", err)
			}
		})
	}
}

func TestResolvePassword(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key with blank")
	if err := os.WriteFile(file, []byte(" key \r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	scope := scopeOf(map[string]string{
		"PWD": project.EncodePassword("1234567890"), "PLAIN": "p", "DIR": filepath.Dir(file),
		"HOP_AES_ENCODER_KEY_FILE": "${DIR}/key with blank", "AES": sealECB(" key ", "from file"),
	})
	for setting, want := range map[string]string{"${PWD}": "1234567890", "${PLAIN}": "p", "x${PLAIN}": "xp", "": "", "${AES}": "from file"} {
		got, err := project.ResolvePassword(scope, setting)
		if err != nil || got.Reveal() != want {
			t.Errorf("ResolvePassword(%q) = %q, %v, want %q", setting, got.Reveal(), err, want)
		}
	}
	scope.Set("HOP_AES_ENCODER_KEY_FILE", "${DIR}/none")
	if _, err := project.ResolvePassword(scope, "${AES}"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent key file: %v", err)
	}
	if got, err := project.ResolvePassword(scope, "${PWD}"); err == nil {
		t.Errorf("a broken key setting is not reported: %q", got.Reveal())
	}
}

func TestSecretNeverShows(t *testing.T) {
	s := project.NewSecret("hunter2")
	holder := struct{ S project.Secret }{s}
	encoded, err := json.Marshal(map[string]any{"s": s, "holder": holder})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("Connected", "password", s, "holder", holder)
	slog.New(slog.NewTextHandler(&log, nil)).Info("Connected", "password", s, "holder", holder)
	texts := []string{string(encoded), log.String(), s.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		texts = append(texts, fmt.Sprintf(verb, s), fmt.Sprintf(verb, holder), fmt.Sprintf(verb, &holder))
	}
	for _, text := range texts {
		if strings.Contains(text, "hunter2") || strings.Contains(text, "68756e746572") {
			t.Errorf("shown: %s", text)
		}
		if !strings.Contains(text, "***") {
			t.Errorf("not redacted visibly: %s", text)
		}
	}
	if s.Reveal() != "hunter2" || s != project.NewSecret("hunter2") {
		t.Error("the secret lost its text")
	}
}

func TestSecretPolicy(t *testing.T) {
	policy := project.NewSecretPolicy(project.DefaultSecretPatterns())
	for name, want := range map[string]bool{
		"PASSWORD": true, "db_password": true, "DbPassword": true, "MY-TOKEN": true, "TOKENS": true, "API_KEY": true,
		"apiKey": true, "APIKEY": true, "HOP_PWD": true, "clientSecret": true, "x.key": true, "HOP_AES_ENCODER_KEY": true,
		"MONKEY": false, "KEYSPACE": false, "COMPASS": false, "PROJECT_HOME": false, "": false, "AUTHOR": false, "BYPASS_X": false,
	} {
		if got := policy.MatchesName(name); got != want {
			t.Errorf("MatchesName(%q) = %v", name, got)
		}
	}
	own := project.NewSecretPolicy([]string{"geheim*", " pin ", ""})
	for name, want := range map[string]bool{"GEHEIMNIS": true, "my_pin": true, "PASSWORD": false, "SPIN": false, "XGEHEIM": false} {
		if got := own.MatchesName(name); got != want {
			t.Errorf("own list: MatchesName(%q) = %v", name, got)
		}
	}
	scope := scopeOf(map[string]string{"PLAIN": "x", "HIDDEN": "Encrypted 2be98afc86aa7f2e4cb799d64cc9ba1dd", "DB_TOKEN": "t"})
	scope.SetSecret("DECODED", project.NewSecret("d"))
	scope.SetSecret("OVERWRITTEN", project.NewSecret("d"))
	scope.Set("OVERWRITTEN", "plain")
	if got := policy.SecretNames(scope.Child()); !slices.Equal(got, []string{"DB_TOKEN", "DECODED", "HIDDEN"}) {
		t.Errorf("secret names %v", got)
	}
}

func TestReadsSecret(t *testing.T) {
	policy := project.NewSecretPolicy(project.DefaultSecretPatterns())
	scope := scopeOf(map[string]string{
		"DB_PASSWORD": "p", "URL": "jdbc:x?password=${DB_PASSWORD}", "HOST": "h", "VIA": "#{vault:a:b}", "LOOP": "${LOOP}",
	})
	for text, want := range map[string]bool{
		"plain": false, "${HOST}": false, "${NO}": false, "${DB_PASSWORD}": true, "%%DB_PASSWORD%%": true, "${URL}": true,
		"#{vault:a}": true, "${VIA}": true, "${LOOP}": true, "${UNDEFINED_TOKEN}": true,
	} {
		if got := policy.ReadsSecret(scope, text); got != want {
			t.Errorf("ReadsSecret(%q) = %v", text, got)
		}
	}
}

func TestPasswordSeed(t *testing.T) {
	own := project.PasswordKeys{Seed: "123456789012345435987"}
	got, err := project.DecodePassword(hopPasswords["String"], own)
	if err == nil && got.Reveal() == "String" {
		t.Error("the seed has no effect")
	}
	if _, err := project.DecodePassword(hopPasswords["String"], project.PasswordKeys{Seed: "x"}); !errors.Is(err, project.ErrBadPassword) {
		t.Errorf("a seed that is no number: %v", err)
	}
	keys, err := project.PasswordKeysOf(scopeOf(map[string]string{"HOP_TWO_WAY_PASSWORD_ENCODER_SEED": "12", "K": "k", "HOP_AES_ENCODER_KEY": "${K}"}))
	if err != nil || keys.Seed != "12" || keys.AES.Reveal() != "k" {
		t.Errorf("keys of the scope: %+v, %v", keys, err)
	}
}
