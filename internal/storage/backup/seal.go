package backup

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"

	"filippo.io/age"
)

// Seal is how an archive is sealed: by a passphrase, for one or more age recipients, or, with Plain, not at all.
type Seal struct {
	Passphrase string
	Recipients []string
	Plain      bool
	// Work is the cost of testing a passphrase; zero is defaultWorkFactor, and only tests use less.
	Work int
}

// Keys open an archive. Passphrase is called only for an archive that was sealed by one.
type Keys struct {
	Passphrase func() (string, error)
	Identities string // a file of age identities
	// Plain accepts an unsealed archive. Otherwise it is rejected, because anyone who can replace the file would
	// control what runs here.
	Plain bool
}

// defaultWorkFactor makes testing passphrases slow: 2 to this power rounds, about a second on a small machine.
const defaultWorkFactor = 18

// maxWorkFactor is the most work that opening an archive may demand, a few seconds. The archive contains the number,
// and each step doubles time and memory.
const maxWorkFactor = 20

// sealMethod is a prepared Seal, with what opens the same archive again.
type sealMethod struct {
	recipients []age.Recipient
	reopen     func() []age.Identity
}

func (s Seal) prepare() (sealMethod, error) {
	switch {
	case s.Plain:
		return sealMethod{}, nil
	case s.Passphrase != "":
		r, err := age.NewScryptRecipient(s.Passphrase)
		if err != nil {
			return sealMethod{}, fmt.Errorf("use the passphrase: %w", err)
		}
		r.SetWorkFactor(cmp.Or(s.Work, defaultWorkFactor))
		identity, err := age.NewScryptIdentity(s.Passphrase)
		if err != nil {
			return sealMethod{}, fmt.Errorf("use the passphrase: %w", err)
		}
		return sealMethod{[]age.Recipient{r}, func() []age.Identity { return []age.Identity{identity} }}, nil
	case len(s.Recipients) > 0:
		return prepareRecipients(s.Recipients)
	default:
		return sealMethod{}, &usererr.Error{Code: CodeKeyNeeded, Message: "nothing says who may open the archive",
			Next: "Give a passphrase or a recipient."}
	}
}

// prepareRecipients records the file key while it is wrapped, because the archive is read back without the
// recipient's private key.
func prepareRecipients(texts []string) (sealMethod, error) {
	parsed, err := age.ParseRecipients(strings.NewReader(strings.Join(texts, "\n")))
	if err != nil {
		return sealMethod{}, &usererr.Error{Code: CodeInvalid, Message: "that is not a recipient of age",
			Next: "Use the public key that age-keygen printed; it begins with age1.", Err: err}
	}
	noted := &recordedKey{}
	c := sealMethod{reopen: func() []age.Identity { return []age.Identity{age.NewInjectedFileKeyIdentity(noted.key)} }}
	for _, r := range parsed {
		c.recipients = append(c.recipients, &keyRecorder{r, noted})
	}
	return c, nil
}

type recordedKey struct{ key []byte }

// keyRecorder is a recipient that records the file key.
type keyRecorder struct {
	age.Recipient
	to *recordedKey
}

func (n *keyRecorder) Wrap(key []byte) ([]*age.Stanza, error) {
	n.to.key = bytes.Clone(key)
	return n.Recipient.Wrap(key)
}

// WrapWithLabels passes the labels of the recipient on.
func (n *keyRecorder) WrapWithLabels(key []byte) ([]*age.Stanza, []string, error) {
	n.to.key = bytes.Clone(key)
	if labelled, ok := n.Recipient.(age.RecipientWithLabels); ok {
		return labelled.WrapWithLabels(key)
	}
	stanzas, err := n.Recipient.Wrap(key)
	return stanzas, nil, err
}

// sealWriter returns a writer that seals what is written to it.
func (c sealMethod) sealWriter(w io.Writer) (io.WriteCloser, error) {
	if len(c.recipients) == 0 {
		return plainWriter{w}, nil
	}
	return age.Encrypt(w, c.recipients...)
}

// plainWriter seals nothing.
type plainWriter struct{ io.Writer }

func (plainWriter) Close() error { return nil }

const (
	sealedPrefix = "age-encryption.org/"
	gzipPrefix   = "\x1f\x8b"
	scryptStanza = "scrypt"
)

// unseal detects how the archive is sealed, and opens it.
func unseal(r io.Reader, plainIsFine bool, identities []age.Identity) (io.Reader, error) {
	buffered := bufio.NewReaderSize(r, bufferSize)
	head, _ := buffered.Peek(len(sealedPrefix))
	switch {
	case strings.HasPrefix(string(head), gzipPrefix) && !plainIsFine:
		return nil, &usererr.Error{Code: CodeNotSealed,
			Message: "the file is not sealed, so that anybody could have made or changed it",
			Next: "Use a sealed backup. If you made this one with --plain and trust where it was kept, restore it with " +
				"--plain."}
	case strings.HasPrefix(string(head), gzipPrefix):
		return buffered, nil
	case string(head) != sealedPrefix:
		return nil, &usererr.Error{Code: CodeDamaged, Message: "the file is not a backup of PDPP",
			Next: "Check which file you named."}
	}
	plain, err := age.Decrypt(buffered, identities...)
	var own *usererr.Error
	var none *age.NoIdentityMatchError
	switch {
	case err == nil:
		return plain, nil
	case errors.As(err, &own):
		return nil, own
	case errors.As(err, &none):
		return nil, &usererr.Error{Code: CodeWrongKey, Message: "this key or passphrase does not open the backup",
			Next: "Try another one. Nothing was changed.", Err: err}
	default:
		return nil, &usererr.Error{Code: CodeDamaged, Message: "the backup is damaged or cut off",
			Next: "Use another copy of it. Nothing was changed.", Err: err}
	}
}

// identities returns the owner's keys in the form that age expects.
func (k Keys) identities() ([]age.Identity, error) {
	out := []age.Identity{&passphraseIdentity{k.Passphrase}}
	if k.Identities == "" {
		return out, nil
	}
	f, err := os.Open(k.Identities)
	if err != nil {
		return nil, &usererr.Error{Code: CodeKeyNeeded, Message: "the file of identities cannot be read",
			Next: "Check the path after --identity.", Err: err}
	}
	defer f.Close()
	parsed, err := age.ParseIdentities(f)
	if err != nil {
		return nil, &usererr.Error{Code: CodeKeyNeeded, Message: k.Identities + " holds no identity of age",
			Next: "Use the file that age-keygen wrote.", Err: err}
	}
	return append(out, parsed...), nil
}

// passphraseIdentity asks for the passphrase once an archive needs it.
type passphraseIdentity struct{ ask func() (string, error) }

func (a *passphraseIdentity) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	for _, s := range stanzas {
		if s.Type != scryptStanza {
			continue
		}
		if a.ask == nil {
			return nil, &usererr.Error{Code: CodeKeyNeeded, Message: "the backup was closed by a passphrase",
				Next: "Give it, as in: pdpp restore FILE --to HOME --passphrase-stdin"}
		}
		text, err := a.ask()
		if err != nil {
			return nil, err
		}
		identity, err := age.NewScryptIdentity(text)
		if err != nil {
			return nil, age.ErrIncorrectIdentity // an empty passphrase opens nothing
		}
		identity.SetMaxWorkFactor(maxWorkFactor)
		return identity.Unwrap(stanzas)
	}
	return nil, age.ErrIncorrectIdentity
}
