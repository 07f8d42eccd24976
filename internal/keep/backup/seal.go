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

	"github.com/pdpp-go/pdpp/internal/ops/fault"

	"filippo.io/age"
)

// Seal says how an archive is closed: by a passphrase, for the owner of one or more
// age recipients, or, with Plain, not at all.
type Seal struct {
	Passphrase string
	Recipients []string
	Plain      bool
	// Work is that of trying out a passphrase; zero is workFactor, and only tests need less.
	Work int
}

// Keys open an archive. Passphrase is asked only for an archive that was closed by one.
type Keys struct {
	Passphrase func() (string, error)
	Identities string // a file of age identities
	// Plain accepts an archive that is not sealed. Without it such a one is refused: whoever
	// can replace the file would otherwise say what runs here.
	Plain bool
}

// workFactor makes trying out passphrases slow: two to the power of it rounds, about a
// second on a small machine.
const workFactor = 18

// maxWorkFactor is the most work that opening an archive may ask for, a few seconds: the number
// is in the archive, and each step more doubles the time and the memory.
const maxWorkFactor = 20

// closing is a Seal made ready, with what opens the same archive again.
type closing struct {
	recipients []age.Recipient
	reopen     func() []age.Identity
}

func (s Seal) prepare() (closing, error) {
	switch {
	case s.Plain:
		return closing{}, nil
	case s.Passphrase != "":
		r, err := age.NewScryptRecipient(s.Passphrase)
		if err != nil {
			return closing{}, fmt.Errorf("use the passphrase: %w", err)
		}
		r.SetWorkFactor(cmp.Or(s.Work, workFactor))
		identity, err := age.NewScryptIdentity(s.Passphrase)
		if err != nil {
			return closing{}, fmt.Errorf("use the passphrase: %w", err)
		}
		return closing{[]age.Recipient{r}, func() []age.Identity { return []age.Identity{identity} }}, nil
	case len(s.Recipients) > 0:
		return prepareRecipients(s.Recipients)
	default:
		return closing{}, &fault.Fault{Code: CodeKeyNeeded, Message: "nothing says who may open the archive", Next: "Give a passphrase or a recipient."}
	}
}

// prepareRecipients notes the key of the file while it is wrapped, because the archive
// is read back here where nobody has the recipient's own key.
func prepareRecipients(texts []string) (closing, error) {
	parsed, err := age.ParseRecipients(strings.NewReader(strings.Join(texts, "\n")))
	if err != nil {
		return closing{}, &fault.Fault{Code: CodeInvalid, Message: "that is not a recipient of age", Next: "Use the public key that age-keygen printed; it begins with age1.", Err: err}
	}
	noted := &notedKey{}
	c := closing{reopen: func() []age.Identity { return []age.Identity{age.NewInjectedFileKeyIdentity(noted.key)} }}
	for _, r := range parsed {
		c.recipients = append(c.recipients, &noting{r, noted})
	}
	return c, nil
}

type notedKey struct{ key []byte }

// noting is a recipient that notes the file's key.
type noting struct {
	age.Recipient
	to *notedKey
}

func (n *noting) Wrap(key []byte) ([]*age.Stanza, error) {
	n.to.key = bytes.Clone(key)
	return n.Recipient.Wrap(key)
}

// WrapWithLabels keeps what the recipient says about recipients beside it.
func (n *noting) WrapWithLabels(key []byte) ([]*age.Stanza, []string, error) {
	n.to.key = bytes.Clone(key)
	if labelled, ok := n.Recipient.(age.RecipientWithLabels); ok {
		return labelled.WrapWithLabels(key)
	}
	stanzas, err := n.Recipient.Wrap(key)
	return stanzas, nil, err
}

// close makes a writer that seals what is written to it.
func (c closing) close(w io.Writer) (io.WriteCloser, error) {
	if len(c.recipients) == 0 {
		return open0{w}, nil
	}
	return age.Encrypt(w, c.recipients...)
}

// open0 is a writer that seals nothing.
type open0 struct{ io.Writer }

func (open0) Close() error { return nil }

const (
	sealedMark   = "age-encryption.org/"
	gzipMark     = "\x1f\x8b"
	scryptStanza = "scrypt"
)

// unseal finds out how the archive is closed, and opens it.
func unseal(r io.Reader, plainIsFine bool, identities []age.Identity) (io.Reader, error) {
	buffered := bufio.NewReaderSize(r, bufferSize)
	head, _ := buffered.Peek(len(sealedMark))
	switch {
	case strings.HasPrefix(string(head), gzipMark) && !plainIsFine:
		return nil, &fault.Fault{Code: CodeNotSealed, Message: "the file is not sealed, so that anybody could have made or changed it",
			Next: "Use a sealed backup. If you made this one with --plain and trust where it was kept, restore it with --plain."}
	case strings.HasPrefix(string(head), gzipMark):
		return buffered, nil
	case string(head) != sealedMark:
		return nil, &fault.Fault{Code: CodeDamaged, Message: "the file is not a backup of PDPP", Next: "Check which file you named."}
	}
	plain, err := age.Decrypt(buffered, identities...)
	var own *fault.Fault
	var none *age.NoIdentityMatchError
	switch {
	case err == nil:
		return plain, nil
	case errors.As(err, &own):
		return nil, own
	case errors.As(err, &none):
		return nil, &fault.Fault{Code: CodeWrongKey, Message: "this key or passphrase does not open the backup", Next: "Try another one. Nothing was changed.", Err: err}
	default:
		return nil, &fault.Fault{Code: CodeDamaged, Message: "the backup is damaged or cut off", Next: "Use another copy of it. Nothing was changed.", Err: err}
	}
}

// identities are the owner's keys, in the form that age asks for them.
func (k Keys) identities() ([]age.Identity, error) {
	out := []age.Identity{&asking{k.Passphrase}}
	if k.Identities == "" {
		return out, nil
	}
	f, err := os.Open(k.Identities)
	if err != nil {
		return nil, &fault.Fault{Code: CodeKeyNeeded, Message: "the file of identities cannot be read", Next: "Check the path after --identity.", Err: err}
	}
	defer f.Close()
	parsed, err := age.ParseIdentities(f)
	if err != nil {
		return nil, &fault.Fault{Code: CodeKeyNeeded, Message: k.Identities + " holds no identity of age", Next: "Use the file that age-keygen wrote.", Err: err}
	}
	return append(out, parsed...), nil
}

// asking asks for the passphrase once an archive needs it.
type asking struct{ ask func() (string, error) }

func (a *asking) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	for _, s := range stanzas {
		if s.Type != scryptStanza {
			continue
		}
		if a.ask == nil {
			return nil, &fault.Fault{Code: CodeKeyNeeded, Message: "the backup was closed by a passphrase", Next: "Give it, as in: pdpp restore FILE --to HOME --passphrase-stdin"}
		}
		text, err := a.ask()
		if err != nil {
			return nil, err
		}
		identity, err := age.NewScryptIdentity(text)
		if err != nil {
			return nil, age.ErrIncorrectIdentity // an empty one opens nothing
		}
		identity.SetMaxWorkFactor(maxWorkFactor)
		return identity.Unwrap(stanzas)
	}
	return nil, age.ErrIncorrectIdentity
}
