package localarchive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/localfile"
	"github.com/pdpp-go/pdpp/protocol"
)

// SettleTime is for how long a file must not have changed before it counts.
const SettleTime = 10 * time.Second

// Import is a folder into which a person puts exports of one source.
type Import struct {
	// Dir is the folder, or a single file.
	Dir string
	// Streams are all that the kinds can bring.
	Streams []string
	// Kinds are matched in order, in archives and in the folder alike.
	Kinds []MemberKind
	// LeftOut are kinds of members that are known and not collected. The account of a file names them,
	// and counts whatever else the file holds by a pattern of its name.
	LeftOut []localfile.LeftOut
	// Packaging are patterns of members that describe the export and hold nothing of the owner's.
	Packaging []string
	// Known are patterns of members by which an archive is known to be of this source although
	// nothing in it is collected.
	Known []string
	// Empty is the text for an owner with no file of this source in the folder: what to put there.
	Empty  string
	Limits ArchiveLimits
	// Settings are the owner's choices that decide how members are read. Under others, everything
	// is read again.
	Settings string
}

// MemberKind is one kind of member.
type MemberKind struct {
	Name string
	// Patterns match paths by segments as path.Match does; ** matches any number of
	// segments, so that it leads through whatever folder an export is in.
	Patterns []string
	// Streams are what it brings, the one first that its gaps belong to.
	Streams []string
	Reason  string
	// Guess means that the patterns do not determine the kind: Read looks at the content, and returns
	// ErrOtherKind for content of another kind. Members that LeftOut or Packaging name are not tried.
	Guess bool
	// Read reads one member. It is called again for one that was interrupted. Its error declares
	// the member as missing; what was brought is kept.
	Read func(ctx context.Context, m *Member) error
}

// readVersion changes when importers read more of an export than they did: exports that an earlier
// version has read are then read again.
const readVersion = "2;"

// archivePatterns are the name patterns of archives. The first bytes of a file decide what it is.
var archivePatterns = []string{"**/*.zip", "**/*.ZIP", "**/*.tgz", "**/*.tar.gz", "**/*.tar"}

// Source is the reader of the folder.
func (i Import) Source() localfile.Source {
	const root = "imports"
	at := &i
	src := localfile.Source{
		Streams: i.Streams, Roots: []localfile.Root{{Name: root, Path: i.Dir, Import: true}}, Empty: i.Empty,
		Settings: readVersion + i.Settings, LastWins: true, LeftOut: i.LeftOut,
	}
	store := func(name, reason string, streams, patterns []string, kind *MemberKind) {
		src.Stores = append(src.Stores, localfile.Store{
			Name: name, Root: root, Patterns: patterns, Streams: streams, Reason: reason, Settle: SettleTime,
			Guess: kind != nil &&
				kind.Guess,
			Open: func(ctx context.Context, f *localfile.File, h *os.File, state jsontext.Value) error {
				return at.readFile(ctx, f, h, state, kind)
			},
		})
	}
	other := func(name, reason string, patterns ...string) {
		src.Stores = append(src.Stores, localfile.Store{Name: name, Root: root, Patterns: patterns, Reason: reason})
	}
	other("unfinished", "still being downloaded", "**/*.crdownload", "**/*.part", "**/*.download", "**/*.partial",
		"**/*.tmp")
	other("litter", "left by the system", "**/.DS_Store", "**/__MACOSX/**", "**/Thumbs.db", "**/desktop.ini")
	other("packaging", "describes the export", i.Packaging...)
	store("archives", "exports as they were downloaded", i.Streams, archivePatterns, nil)
	for n := range at.Kinds {
		k := &at.Kinds[n]
		store(k.Name, k.Reason, k.Streams, k.Patterns, k)
	}
	store("other_archives", "archives of a form that is not read", i.Streams,
		[]string{"**/*.7z", "**/*.rar", "**/*.zipx", "**/*.xz", "**/*.bz2"}, nil)
	return src
}

// readingPlace is where reading was interrupted.
type readingPlace struct {
	Digest string `json:"d"`
	Member int64  `json:"n,omitzero"` // members before it are read
	// Entries and Others count what was left out of the members up to here, by kind and by pattern.
	Entries map[string]int64 `json:"e,omitempty"`
	Others  map[string]int64 `json:"u,omitempty"`
	State   jsontext.Value   `json:"s,omitzero"`
}

// readFile reads an archive, or a single file of the folder.
func (i *Import) readFile(
	ctx context.Context,
	f *localfile.File,
	h *os.File,
	state jsontext.Value,
	kind *MemberKind,
) error {
	if f.Size == 0 && kind == nil {
		return damagedMember("the file is empty")
	}
	a, err := openArchive(h, f.Size)
	if err != nil && f.Size > 0 {
		return err
	}
	if a == nil && kind == nil {
		return refusedMember(ReasonFormUnknown, errors.New("the file is no archive that is read"))
	}
	limits := i.Limits.withDefaults(f.Size)
	if z, ok := a.(*zipFile); ok && z.entries > limits.Entries {
		return refusedMember(ReasonTooLarge, fmt.Errorf("the archive has %d members", z.entries))
	}
	digest, err := archiveDigest(ctx, a, h, f.Size)
	if err != nil {
		return err
	}
	if f.Received(digest) {
		return nil
	}
	before, err := h.Stat()
	if err != nil {
		return err
	}
	r := &archiveReading{i: i, f: f, a: a, digest: digest, left: limits.Total, limits: limits}
	var was readingPlace
	if len(state) > 0 && json.Unmarshal(state, &was) == nil && was.Digest == digest {
		r.skip, r.state, r.entries.Known, r.entries.Unknown = was.Member, was.State, was.Entries, was.Others
	}
	defer r.writeAccount()
	if a == nil {
		r.left, r.limits.Entry = math.MaxInt64, math.MaxInt64 // it lies there as it is
		m := &Member{Name: f.Rel, Size: f.Size, Modified: f.Modified, r: r, kind: kind, state: r.state,
			section: io.NewSectionReader(h, 0, f.Size)}
		if err = kind.Read(ctx, m); errors.Is(err, ErrOtherKind) {
			r.entries.Add(nil, f.Rel)
			err = nil
		} else {
			m.compareBeginning(err)
		}
		if err = r.memberOutcome(err); ctx.Err() == nil && errors.Is(err, errMemberContent) {
			err = refusedMember(ReasonDamaged, err)
		}
	} else {
		err = a.walkMembers(ctx, func(e *Entry) error { return r.readMember(ctx, e) })
		if err == nil && !r.known {
			err = refusedMember(ReasonOtherKind, errors.New("nothing in the archive is of this source"))
		}
	}
	if err != nil {
		return err
	}
	if after, err := h.Stat(); err != nil || after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) {
		return localfile.ErrFileChanged
	}
	f.Receive(digest)
	return nil
}

// archiveReading is an archive being read.
type archiveReading struct {
	i      *Import
	f      *localfile.File
	a      memberArchive // nil for a single file
	digest string
	limits ArchiveLimits
	left   int64 // bytes that may still be inflated
	n      int64 // members met
	skip   int64 // members that an earlier run has read
	state  jsontext.Value
	known  bool // something in it is of this source
	gaps   int
	// members and entries count what is left out: whole members, and parts of members that are read.
	members, entries localfile.Leftovers
}

// writeAccount writes what the file holds and is not collected. For an archive it writes that too when there
// is nothing.
func (r *archiveReading) writeAccount() {
	r.members.Merge(r.entries)
	if r.n > 0 && r.known || !r.members.Empty() && r.n == 0 {
		r.f.Account(localfile.FileAccount(r.digest, r.f.Rel, r.members))
	}
}

// maxMemberGaps bounds the gaps of one archive that are written by member.
const maxMemberGaps = 200

// maxCarriedPatterns bounds the patterns that are kept when reading is interrupted; the counts of an archive
// with more restart with the member.
const maxCarriedPatterns = 20

// currentPlace returns where reading goes on when it is interrupted now.
func (r *archiveReading) currentPlace(member int64, state jsontext.Value) readingPlace {
	at := readingPlace{Digest: r.digest, Member: member, State: state, Entries: r.entries.Known}
	if len(r.entries.Unknown) <= maxCarriedPatterns {
		at.Others = r.entries.Unknown
	}
	return at
}

// kindMatches reports whether a member is of a kind, judged by its name.
func (i *Import) kindMatches(k MemberKind, name string) bool {
	return localfile.MatchesAny(k.Patterns, name) &&
		!(k.Guess && (localfile.MatchesAny(i.Packaging, name) ||
			slices.ContainsFunc(i.LeftOut, func(l localfile.LeftOut) bool { return localfile.MatchesAny(l.Patterns, name) })))
}

func (r *archiveReading) readMember(ctx context.Context, e *Entry) error {
	n := r.n
	if r.n++; r.n > r.limits.Entries {
		return refusedMember(ReasonTooLarge, fmt.Errorf("the archive has more than %d members", r.limits.Entries))
	}
	if e.folder || isSystemFile(e.Name) {
		return nil
	}
	var kind *MemberKind
	name := cleanName(e.Name)
	if i := slices.IndexFunc(r.i.Kinds, func(k MemberKind) bool { return r.i.kindMatches(k, name) }); i >= 0 {
		kind = &r.i.Kinds[i]
	}
	if kind != nil && !kind.Guess || localfile.MatchesAny(r.i.Known, name) {
		r.known = true
	}
	if kind == nil && !isNestedArchive(e.Name) && isSafeName(e.Name) && !e.unsafe &&
		!localfile.MatchesAny(r.i.Packaging, name) {
		r.members.Add(r.i.LeftOut, name)
	}
	if n < r.skip {
		return nil
	}
	refused := protocol.Reason("")
	switch {
	case !isSafeName(e.Name) || e.unsafe:
		refused = ReasonUnsafe
	case kind == nil && isNestedArchive(e.Name):
		refused = ReasonNested
	case kind == nil:
		return nil
	case e.encrypted:
		refused = ReasonEncrypted
	}
	if refused != "" {
		r.declareGap(e.Name, refused)
		return nil
	}
	if !r.f.Wants(kind.Streams) {
		return nil
	}
	m := &Member{Name: name, Archive: r.f.Rel, Size: e.Size, Modified: e.Modified, r: r, n: n, kind: kind, entry: e}
	if n == r.skip {
		m.state = r.state
	}
	err := kind.Read(ctx, m)
	if errors.Is(err, ErrOtherKind) {
		r.entries.Add(nil, name)
		return nil
	}
	r.known = true
	m.compareBeginning(err)
	err = r.memberOutcome(err)
	var own *localfile.RefusedError
	switch {
	case err == nil:
		r.f.Recovered(e.Name)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errMemberContent):
		r.declareGap(e.Name, ReasonMember)
	case errors.As(err, &own) && !errors.Is(err, errArchiveTooLarge):
		r.declareGap(e.Name, own.Reason)
	default:
		return err
	}
	return r.f.Place(ctx, func() any { return r.currentPlace(n+1, nil) })
}

// ErrOtherKind is what Read of a kind that is a guess returns for content of another kind.
var ErrOtherKind = errors.New("the content is of another kind")

// errMemberContent means that a member, and not the output or the whole archive, is at fault.
var errMemberContent = errors.New("the member cannot be read")

// memberOutcome separates a member's fault from other errors that end the reading.
func (r *archiveReading) memberOutcome(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errArchiveTooLarge):
		return refusedMember(ReasonTooLarge, err)
	case localfile.IsSendError(err):
		return err
	}
	var refused *localfile.RefusedError
	if errors.As(err, &refused) {
		return err
	}
	return errors.Join(errMemberContent, err)
}

// RefuseMember is what Read returns for a member that it does not take, for a reason of the source's
// own. For a single file it applies to the whole file.
func RefuseMember(reason protocol.Reason, format string, args ...any) error {
	return refusedMember(reason, fmt.Errorf(format, args...))
}

// OtherKind is what Read returns for a member that only looked like one of its kind.
func OtherKind(format string, args ...any) error {
	return refusedMember(ReasonOtherKind, fmt.Errorf(format, args...))
}

func (r *archiveReading) declareGap(part string, reason protocol.Reason) {
	if r.gaps++; r.gaps > maxMemberGaps {
		r.f.Skip(string(reason))
		return
	}
	r.f.Gap(part, reason, reason == ReasonMember, 0, 0)
}
