package connectorkit

import (
	"bytes"
	"strings"
)

// secretShape is a kind of secret that begins with a fixed text.
type secretShape struct {
	kind   string
	prefix string
	chars  *[256]bool // characters after the prefix
	least  int        // minimum number of characters
	digits int        // minimum number of digits
}

var (
	alnum   = charset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
	upper   = charset("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
	wordy   = charset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
	dashed  = charset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
	dotted  = charset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")
	encoded = charset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~+/=")
)

func charset(list string) *[256]bool {
	var set [256]bool
	for i := range len(list) {
		set[list[i]] = true
	}
	return &set
}

// secretShapes are ordered: a shape that extends another comes first.
var secretShapes = []secretShape{
	{"anthropic", "sk-ant-", dashed, 16, 2},
	{"openai", "sk-proj-", dashed, 20, 2},
	{"model", "sk-", dashed, 20, 2},
	{"stripe", "sk_live_", alnum, 16, 1},
	{"stripe", "sk_test_", alnum, 16, 1},
	{"stripe", "rk_live_", alnum, 16, 1},
	{"aws", "AKIA", upper, 16, 1},
	{"aws", "ASIA", upper, 16, 1},
	{"google", "AIza", dashed, 35, 1},
	{"google", "ya29.", dotted, 20, 1},
	{"github", "github_pat_", wordy, 22, 1},
	{
		"github",
		"ghp_",
		alnum,
		30,
		1,
	},
	{"github", "gho_", alnum, 30, 1},
	{"github", "ghu_", alnum, 30, 1},
	{"github", "ghs_", alnum, 30, 1},
	{"github", "ghr_", alnum, 30, 1},
	{"gitlab", "glpat-", dashed, 20, 1},
	{
		"slack",
		"xoxb-",
		dashed,
		10,
		2,
	},
	{"slack", "xoxp-", dashed, 10, 2},
	{"slack", "xoxa-", dashed, 10, 2},
	{"slack", "xoxr-", dashed, 10, 2},
	{"slack", "xoxs-", dashed, 10, 2},
	{"slack", "xoxe.", dotted, 10, 2},
	{"slack", "xapp-", dashed, 10, 2},
	{"npm", "npm_", alnum, 36, 1},
	{"pypi", "pypi-AgE", dashed, 30, 1},
	{"huggingface", "hf_", alnum, 30, 1},
	{"digitalocean", "dop_v1_", alnum, 40, 4},
	{"sendgrid", "SG.", dotted, 40, 2},
	{"pdpp", "ldt_", dashed, 30, 1},
}

// shapesByFirst contains the shapes by their first byte.
var shapesByFirst = func() (all [256][]secretShape) {
	for _, s := range secretShapes {
		all[s.prefix[0]] = append(all[s.prefix[0]], s)
	}
	return all
}()

// findSecret returns the secret that begins at i, and its location.
func findSecret(raw []byte, i int) (kind string, from, to int) {
	switch raw[i] {
	case ':':
		return findPassword(raw, i)
	case '-':
		return privateKey(raw, i)
	case 'u', 'U':
		return authorization(raw, i)
	case 'e':
		return findWebToken(raw, i)
	}
	if !wordBegins(raw, i) {
		return "", 0, 0
	}
	for _, s := range shapesByFirst[raw[i]] {
		if !bytes.HasPrefix(raw[i:], []byte(s.prefix)) {
			continue
		}
		end := wordEnd(raw, i+len(s.prefix), s.chars)
		n := end - i - len(s.prefix)
		if n >= s.least && digits(raw[i:end]) >= s.digits || n >= 4 && wasTruncated(raw, end) {
			return s.kind, i, end
		}
	}
	return "", 0, 0
}

// wordBegins reports whether a word can begin at i: the byte before is not part of a word, or ends an escape.
func wordBegins(raw []byte, i int) bool {
	if i == 0 || !wordy[raw[i-1]] {
		return i == 0 || raw[i-1] != '\\' || !beginsEscape(raw, i-1)
	}
	if i >= 2 && strings.IndexByte("nrtbf", raw[i-1]) >= 0 && beginsEscape(raw, i-2) {
		return true
	}
	return i >= 6 && raw[i-5] == 'u' && beginsEscape(raw, i-6)
}

// beginsEscape reports whether the backslash at i begins an escape.
func beginsEscape(raw []byte, i int) bool {
	n := 0
	for ; i >= 0 && raw[i] == '\\'; i-- {
		n++
	}
	return n%2 == 1
}

func wordEnd(raw []byte, i int, chars *[256]bool) int {
	for i < len(raw) && chars[raw[i]] {
		i++
	}
	return i
}

func digits(b []byte) (n int) {
	for _, c := range b {
		if c >= '0' && c <= '9' {
			n++
		}
	}
	return n
}

// wasTruncated reports whether the text was truncated at i, so that a secret may continue after it.
func wasTruncated(raw []byte, i int) bool { return bytes.HasPrefix(raw[i:], []byte(`\n[cut: `)) }

// findPassword finds the password in scheme://user:password@host.
func findPassword(raw []byte, i int) (string, int, int) {
	if i == 0 || !alnum[raw[i-1]] || !bytes.HasPrefix(raw[i:], []byte(addressMark)) {
		return "", 0, 0
	}
	colon := 0
	for j := i + 3; j < len(raw) && j < i+400; j++ {
		switch c := raw[j]; {
		case c == '@' && colon > 0 && j > colon+1:
			return "password", colon + 1, j
		case c == ':' && colon == 0:
			colon = j
		case c <= ' ' || c == '/' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '@' || c == '?' || c == '#':
			return "", 0, 0
		}
	}
	return "", 0, 0
}

const (
	keyBegin          = "-----BEGIN "
	keyEnd            = "-----END "
	webTokenBegin     = "eyJ"
	addressMark       = "://"
	authorizationRest = "uthorization"
)

// privateKey finds a private key block, to its end or to that of the text.
func privateKey(raw []byte, i int) (string, int, int) {
	if !bytes.HasPrefix(raw[i:], []byte(keyBegin)) {
		return "", 0, 0
	}
	head := raw[i+len(keyBegin) : min(len(raw), i+len(keyBegin)+60)]
	name := bytes.Index(head, []byte("PRIVATE KEY"))
	if name < 0 || bytes.IndexByte(head[:name], '"') >= 0 || bytes.IndexByte(head[:name], '\\') >= 0 {
		return "", 0, 0
	}
	end := i + len(keyBegin) + name
	for end < len(raw) && (raw[end] != '"' || beginsEscape(raw, end-1)) {
		end++
	}
	if j := bytes.Index(raw[i:end], []byte(keyEnd)); j >= 0 {
		if k := bytes.Index(raw[i+j+len(keyEnd):end], []byte("-----")); k >= 0 {
			end = i + j + len(keyEnd) + k + 5
		}
	}
	return "private_key", i, end
}

// authorization finds the value after the name of the header.
func authorization(raw []byte, i int) (string, int, int) {
	const rest = authorizationRest
	if i == 0 || raw[i-1]|0x20 != 'a' || len(raw) < i+len(rest) || !strings.EqualFold(string(raw[i:i+len(rest)]), rest) {
		return "", 0, 0
	}
	j := i + len(rest)
	gap := j
	for j < len(raw) && j < gap+8 && strings.IndexByte(`"\': =`, raw[j]) >= 0 {
		if raw[j] == '"' && !beginsEscape(raw, j-1) {
			return "", 0, 0 // the text ends here
		}
		j++
	}
	if bytes.IndexByte(raw[gap:j], ':') < 0 && bytes.IndexByte(raw[gap:j], '=') < 0 {
		return "", 0, 0
	}
	scheme := false
	for _, word := range []string{"bearer ", "basic ", "token ", "digest ", "apikey "} {
		if len(raw) > j+len(word) && strings.EqualFold(string(raw[j:j+len(word)]), word) {
			j, scheme = j+len(word), true
			break
		}
	}
	end := wordEnd(raw, j, encoded)
	n := end - j
	if n >= 8 && scheme && (digits(raw[j:end]) > 0 || n >= 24) || n >= 16 && digits(raw[j:end]) > 1 ||
		n >= 4 && wasTruncated(raw, end) {
		return "authorization", j, end
	}
	return "", 0, 0
}

// findWebToken finds a JSON web token: two encoded objects and a signature.
func findWebToken(raw []byte, i int) (string, int, int) {
	if !bytes.HasPrefix(raw[i:], []byte(webTokenBegin)) || !wordBegins(raw, i) {
		return "", 0, 0
	}
	first := wordEnd(raw, i, dashed)
	if first-i < 12 || first+4 > len(raw) || !bytes.HasPrefix(raw[first:], []byte(".eyJ")) {
		if first-i >= 12 && wasTruncated(raw, first) {
			return "jwt", i, first
		}
		return "", 0, 0
	}
	second := wordEnd(raw, first+1, dashed)
	if second < len(raw) && raw[second] == '.' {
		second = wordEnd(raw, second+1, dashed)
	}
	return "jwt", i, second
}
