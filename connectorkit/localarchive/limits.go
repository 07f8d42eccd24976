package localarchive

import (
	"errors"
	"fmt"

	"github.com/pdpp-go/pdpp/connectorkit/localfile"
	"github.com/pdpp-go/pdpp/protocol"
)

// Reasons of gaps. A connector's manifest has the words for its owner.
const (
	// ReasonDamaged: the archive ends too early or cannot be read; what came before is kept.
	ReasonDamaged protocol.Reason = "archive_damaged"
	// ReasonOtherKind: it holds nothing that this source collects.
	ReasonOtherKind protocol.Reason = "archive_of_another_kind"
	// ReasonFormUnknown: it is an archive of a form that is not read.
	ReasonFormUnknown protocol.Reason = "archive_form_unknown"
	// ReasonTooLarge: it inflates to more than its limits allow.
	ReasonTooLarge protocol.Reason = "archive_too_large"
	// ReasonMember: a member is damaged.
	ReasonMember protocol.Reason = "member_damaged"
	// ReasonEncrypted: a member needs a password.
	ReasonEncrypted protocol.Reason = "member_encrypted"
	// ReasonUnsafe: a member is a link, or its name leads out of the archive.
	ReasonUnsafe protocol.Reason = "member_unsafe"
	// ReasonNested: a member is an archive itself.
	ReasonNested protocol.Reason = "archive_in_archive"
	// ReasonRowUnreadable: a row or an entry of a member cannot be read.
	ReasonRowUnreadable protocol.Reason = "row_unreadable"
)

// ReasonMessages are the default texts of the reasons for a connector's manifest. They
// hold for every source.
var ReasonMessages = map[protocol.Reason]string{
	ReasonDamaged: "The export is damaged or ends too early; what could be read is kept. Download it again and " +
		"put it into the folder.",
	ReasonOtherKind:   "This file holds nothing of this source. Take it out of the folder and put the right one in.",
	ReasonFormUnknown: "This form of archive is not read. Unpack it and put the folder in its place.",
	ReasonTooLarge: "The archive inflates to far more than such an export has; the rest was not read. Unpack it " +
		"and put the folder in its place.",
	ReasonMember:        "A file in the archive is damaged. Download the archive again and put it into the folder.",
	ReasonEncrypted:     "A file in the archive needs a password. Unpack it and put the folder in its place.",
	ReasonUnsafe:        "A file in the archive is a link or has a name that leads elsewhere. It was not read.",
	ReasonNested:        "The archive holds another archive. Unpack it and put the inner one into the folder.",
	ReasonRowUnreadable: "An entry of the export cannot be read. It was left out, and the rest is kept.",
}

// ArchiveLimits bound what an archive may cost. Zero means the usual.
type ArchiveLimits struct {
	Entries int64 // how many members it may have; 20,000
	Entry   int64 // bytes of one member; 2 GiB
	Total   int64 // bytes of all members that are read; 20 GiB
	Ratio   int64 // how many times its own size its members may have; 250
}

// minInflatedBytes is how much any archive may inflate to, whatever its size.
const minInflatedBytes = 64 << 20

func (l ArchiveLimits) withDefaults(size int64) ArchiveLimits {
	pick := func(v *int64, usual int64) {
		if *v == 0 {
			*v = usual
		}
	}
	pick(&l.Entries, 20_000)
	pick(&l.Entry, 2<<30)
	pick(&l.Total, 20<<30)
	pick(&l.Ratio, 250)
	if bound := minInflatedBytes + size*l.Ratio; bound > minInflatedBytes && bound < l.Total {
		l.Total = bound
	}
	return l
}

var (
	// ErrDamaged means that a member's content does not match its archive's directory.
	ErrDamaged         = errors.New("the member is damaged")
	errArchiveTooLarge = errors.New("the archive inflates to more than its limits allow")
)

func refusedMember(reason protocol.Reason, err error) error {
	return &localfile.RefusedError{Reason: reason, Err: err}
}

func damagedMember(format string, args ...any) error {
	return refusedMember(ReasonDamaged, fmt.Errorf(format, args...))
}
