package connectorkit

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Masking replaces secrets in the texts of records, before anything leaves the process. It
// knows shapes, not meanings: keys of clouds and of models, tokens, private keys,
// Authorization values, passwords in addresses. A secret becomes [redacted:kind:tag]; the
// tag is keyed by source, so that equal secrets look equal and none can be guessed from it.
type Masking string

const (
	MaskOff      Masking = "off"
	MaskStandard Masking = "standard"
	// MaskStrict also takes words that look random, addresses of mail and telephone numbers.
	MaskStrict Masking = "strict"
)

// maskedField counts, in a record whose schema has it, how many secrets were replaced.
const maskedField = "redactions"

// Mask makes the run replace secrets, as the owner chose; anything but off and strict is
// standard. It belongs into Open.
func (s *Setup) Mask(choice string) {
	key := s.r.p.Env("PDPP_SOURCE_KEY")
	if key == "" {
		key = s.r.p.Env("PDPP_CONNECTOR_INSTANCE_ID")
	}
	switch Masking(choice) {
	case MaskOff:
		s.r.masks = nil
	default:
		s.r.masks = newMasker([]byte(key), Masking(choice) == MaskStrict)
	}
}

// masker finds secrets in encoded JSON. One look at each byte decides whether a shape can
// begin there.
type masker struct {
	key    []byte
	strict bool
}

func newMasker(key []byte, strict bool) *masker { return &masker{key: key, strict: strict} }

// shape is a kind of secret that begins with a fixed text.
type shape struct {
	kind   string
	prefix string
	chars  *[256]bool // what follows it
	least  int        // how many of them there are at least
	digits int        // how many of these are digits at least
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

// shapes, those first that begin like another and go on.
var shapes = []shape{
	{"anthropic", "sk-ant-", dashed, 16, 2},
	{"openai", "sk-proj-", dashed, 20, 2},
	{"model", "sk-", dashed, 20, 2},
	{"stripe", "sk_live_", alnum, 16, 1}, {"stripe", "sk_test_", alnum, 16, 1}, {"stripe", "rk_live_", alnum, 16, 1},
	{"aws", "AKIA", upper, 16, 1}, {"aws", "ASIA", upper, 16, 1},
	{"google", "AIza", dashed, 35, 1}, {"google", "ya29.", dotted, 20, 1},
	{"github", "github_pat_", wordy, 22, 1},
	{"github", "ghp_", alnum, 30, 1}, {"github", "gho_", alnum, 30, 1}, {"github", "ghu_", alnum, 30, 1}, {"github", "ghs_", alnum, 30, 1}, {"github", "ghr_", alnum, 30, 1},
	{"gitlab", "glpat-", dashed, 20, 1},
	{"slack", "xoxb-", dashed, 10, 2}, {"slack", "xoxp-", dashed, 10, 2}, {"slack", "xoxa-", dashed, 10, 2}, {"slack", "xoxr-", dashed, 10, 2},
	{"slack", "xoxs-", dashed, 10, 2}, {"slack", "xoxe.", dotted, 10, 2}, {"slack", "xapp-", dashed, 10, 2},
	{"npm", "npm_", alnum, 36, 1}, {"pypi", "pypi-AgE", dashed, 30, 1}, {"huggingface", "hf_", alnum, 30, 1},
	{"digitalocean", "dop_v1_", alnum, 40, 4}, {"sendgrid", "SG.", dotted, 40, 2}, {"pdpp", "ldt_", dashed, 30, 1},
}

// A secret may begin where firsts of a byte and seconds of the next share a bit.
var (
	firsts, seconds [256]uint32
	byFirst         [256][]shape
)

// Whatever find begins at has one of these bytes, which are seldom in prose, so that only what is
// before such a byte has to be looked at: reach is how far before, with the byte itself.
const seldom = "-_:KSGJzZ9x"

var reach [256]int

func init() {
	begin := func(a, b byte) {
		if firsts[a] == 0 {
			n := 0
			for _, bit := range firsts {
				if bit != 0 {
					n++
				}
			}
			firsts[a] = 1 << n
		}
		seconds[b] |= firsts[a]
	}
	literal := func(text string) {
		begin(text[0], text[1])
		first := strings.IndexAny(text, seldom)
		reach[text[first]] = max(reach[text[first]], first+1)
	}
	for _, s := range shapes {
		byFirst[s.prefix[0]] = append(byFirst[s.prefix[0]], s)
		literal(s.prefix)
	}
	for _, other := range []string{webTokenBegin, keyBegin, addressMark, authorizationRest, strings.ToUpper(authorizationRest)} {
		literal(other)
	}
}

// mask replaces the secrets in the texts of a JSON value and counts them. The value itself
// is returned when it has none.
func (m *masker) mask(raw jsontext.Value) (jsontext.Value, int) {
	var out []byte
	count, kept := 0, 0
	next := 0 // what begins before it has been looked at
	for at := 0; at < len(raw); at += stride {
		var x uint64
		if at+stride <= len(raw) {
			x = binary.LittleEndian.Uint64(raw[at:])
		} else {
			for i, c := range raw[at:] {
				x |= uint64(c) << (8 * i)
			}
		}
		for set := anchored(x); set != 0; set &= set - 1 {
			last := min(at+bits.TrailingZeros64(set)/8, len(raw)-1)
			for i := max(next, last+1-reach[raw[last]]); i <= last && i+1 < len(raw); i++ {
				next = i + 1
				if firsts[raw[i]]&seconds[raw[i+1]] == 0 {
					continue
				}
				if kind, from, to := find(raw, i); kind != "" && from >= kept {
					out = append(append(out, raw[kept:from]...), m.mark(kind, raw[from:to])...)
					count++
					kept, next = to, to
					i = to - 1
				}
			}
		}
	}
	if count > 0 {
		return append(out, raw[kept:]...), count
	}
	return raw, count
}

const stride = 8

// anchored is where in a stride of text seldom bytes are, by their highest bits: capitals and their
// neighbours, x and z, dash and nine and their like, colons. Others may be among them.
func anchored(x uint64) uint64 {
	capital, late, dash, colon := x&(0xe0*ones)^(0x40*ones), (x|0x02*ones)^('z'*ones), (x|0x14*ones)^(0x3d*ones), x^(':'*ones)
	return ((capital-ones)&^capital | (late-ones)&^late | (dash-ones)&^dash | (colon-ones)&^colon) & highs
}

// mark stands for a secret.
func (m *masker) mark(kind string, secret []byte) string {
	tag := hmac.New(sha256.New, m.key)
	_, _ = tag.Write(secret) // a hash never fails
	return "[redacted:" + kind + ":" + hex.EncodeToString(tag.Sum(nil)[:4]) + "]"
}

// find tells which secret begins at i, and where it lies.
func find(raw []byte, i int) (kind string, from, to int) {
	switch raw[i] {
	case ':':
		return password(raw, i)
	case '-':
		return privateKey(raw, i)
	case 'u', 'U':
		return authorization(raw, i)
	case 'e':
		return webToken(raw, i)
	}
	if !begins(raw, i) {
		return "", 0, 0
	}
	for _, s := range byFirst[raw[i]] {
		if !bytes.HasPrefix(raw[i:], []byte(s.prefix)) {
			continue
		}
		end := wordEnd(raw, i+len(s.prefix), s.chars)
		n := end - i - len(s.prefix)
		if n >= s.least && digits(raw[i:end]) >= s.digits || n >= 4 && wasCut(raw, end) {
			return s.kind, i, end
		}
	}
	return "", 0, 0
}

// begins reports whether a word can begin at i: what is before it is no part of a word, or
// the end of an escape.
func begins(raw []byte, i int) bool {
	if i == 0 || !wordy[raw[i-1]] {
		return i == 0 || raw[i-1] != '\\' || !escapes(raw, i-1)
	}
	if i >= 2 && strings.IndexByte("nrtbf", raw[i-1]) >= 0 && escapes(raw, i-2) {
		return true
	}
	return i >= 6 && raw[i-5] == 'u' && escapes(raw, i-6)
}

// escapes reports whether the backslash at i begins an escape.
func escapes(raw []byte, i int) bool {
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

// wasCut reports whether the text was cut at i, so that a secret may go on behind.
func wasCut(raw []byte, i int) bool { return bytes.HasPrefix(raw[i:], []byte(`\n[cut: `)) }

// password finds the one in scheme://user:password@host.
func password(raw []byte, i int) (string, int, int) {
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

// privateKey finds a block of one, to its end or to that of the text.
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
	for end < len(raw) && (raw[end] != '"' || escapes(raw, end-1)) {
		end++
	}
	if j := bytes.Index(raw[i:end], []byte(keyEnd)); j >= 0 {
		if k := bytes.Index(raw[i+j+len(keyEnd):end], []byte("-----")); k >= 0 {
			end = i + j + len(keyEnd) + k + 5
		}
	}
	return "private_key", i, end
}

// authorization finds the value behind the name of the header.
func authorization(raw []byte, i int) (string, int, int) {
	const rest = authorizationRest
	if i == 0 || raw[i-1]|0x20 != 'a' || len(raw) < i+len(rest) || !strings.EqualFold(string(raw[i:i+len(rest)]), rest) {
		return "", 0, 0
	}
	j := i + len(rest)
	gap := j
	for j < len(raw) && j < gap+8 && strings.IndexByte(`"\': =`, raw[j]) >= 0 {
		if raw[j] == '"' && !escapes(raw, j-1) {
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
	if n >= 8 && scheme && (digits(raw[j:end]) > 0 || n >= 24) || n >= 16 && digits(raw[j:end]) > 1 || n >= 4 && wasCut(raw, end) {
		return "authorization", j, end
	}
	return "", 0, 0
}

// webToken finds a JSON web token: two encoded objects and a signature.
func webToken(raw []byte, i int) (string, int, int) {
	if !bytes.HasPrefix(raw[i:], []byte(webTokenBegin)) || !begins(raw, i) {
		return "", 0, 0
	}
	first := wordEnd(raw, i, dashed)
	if first-i < 12 || first+4 > len(raw) || !bytes.HasPrefix(raw[first:], []byte(".eyJ")) {
		if first-i >= 12 && wasCut(raw, first) {
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

// maskMembers is the strict form, for every member but those that identify something.
func (m *masker) maskMembers(raw jsontext.Value) (jsontext.Value, int, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(raw, &members); err != nil {
		return raw, 0, err
	}
	count := 0
	for name, value := range members {
		if name == "id" || name == "timestamp" || slices.ContainsFunc([]string{"_id", "_uuid", "_hash", "_at", "path"}, func(end string) bool { return strings.HasSuffix(name, end) }) {
			continue
		}
		clean, n := m.maskWords(value)
		members[name] = clean
		count += n
	}
	if count == 0 {
		return raw, 0, nil
	}
	clean, err := json.Marshal(members, json.Deterministic(true))
	return clean, count, err
}

// maskWords takes words that look random, addresses of mail and telephone numbers.
func (m *masker) maskWords(raw jsontext.Value) (jsontext.Value, int) {
	var out []byte
	count, kept := 0, 0
	for i := 0; i < len(raw); {
		if !encoded[raw[i]] || !begins(raw, i) {
			if raw[i] == '\\' {
				i++ // what is escaped is no word
			}
			i++
			continue
		}
		end := i
		for end < len(raw) && (encoded[raw[end]] || raw[end] == '@') {
			end++
		}
		word := raw[i:end]
		if kind := strictKind(word); kind != "" && !bytes.HasPrefix(raw[max(0, i-1):], []byte("[redacted:")) {
			out = append(append(out, raw[kept:i]...), m.mark(kind, word)...)
			kept = end
			count++
		}
		i = end
	}
	if count == 0 {
		return raw, 0
	}
	return append(out, raw[kept:]...), count
}

// strictKind is what a word is taken for; empty when it may stay.
func strictKind(word []byte) string {
	if at := bytes.IndexByte(word, '@'); at > 0 && bytes.IndexByte(word[at:], '.') > 1 {
		return "email"
	}
	if n := digits(word); word[0] == '+' && n >= 8 && n <= 15 && wordEnd(word, 1, charset("0123456789-")) == len(word) {
		return "phone"
	}
	if len(word) < 24 || bytes.Count(word, []byte("/")) > 2 || bytes.Count(word, []byte("-")) == 4 && len(word) == 36 {
		return "" // short, a path, or a UUID
	}
	var lower, capital, digit int
	for _, c := range word {
		switch {
		case c >= 'a' && c <= 'z':
			lower++
		case c >= 'A' && c <= 'Z':
			capital++
		case c >= '0' && c <= '9':
			digit++
		}
	}
	if digit >= 3 && lower >= 3 && capital >= 3 || digit >= 6 && len(word) >= 32 && bytes.IndexByte(word, '.') < 0 {
		return "random"
	}
	return ""
}

// masked gives the record without its secrets. What its keys and times are made of has no
// such shape.
func (r *run) masked(stream string, raw jsontext.Value, tree map[string]any) (jsontext.Value, map[string]any, error) {
	clean, n, err := r.secretsIn(raw)
	if err != nil {
		return nil, nil, err
	}
	if n == 0 {
		return raw, tree, nil
	}
	if r.scope[stream].stream.HasField(maskedField) {
		clean = fmt.Appendf(clean[:len(clean)-1:len(clean)-1], `,%q:%d}`, maskedField, n)
	}
	tree, err = r.trees.decode(clean)
	return clean, tree, err
}

// secretsIn gives a record without its secrets, and how many there were.
func (r *run) secretsIn(raw jsontext.Value) (jsontext.Value, int, error) {
	if r.masks == nil {
		return raw, 0, nil
	}
	clean, n := r.masks.mask(raw)
	if !r.masks.strict {
		return clean, n, nil
	}
	more, m, err := r.masks.maskMembers(clean)
	return more, n + m, err
}
