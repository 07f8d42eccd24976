package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// fixDamage is for a database of which parts cannot be read.
const fixDamage = "Stop the server and restore the newest backup: pdpp restore FILE --to HOME --force. The damaged " +
	"home stays beside it."

// fixModes is for files that other users of the machine could read for a while.
const fixModes = "Find out what opened them. If you do not trust those users, enter the credentials again; " +
	"the next start of the server ends this note."

// database opens the store, which brings its schema up to date or refuses a
// newer one, and lets it prove itself.
func (x *checkup) database(ctx context.Context) (usable bool) {
	st, err := x.Open(ctx)
	if err != nil {
		x.reportFailure(CheckDatabase, "the database cannot be opened: "+errorLine(err), fixOf(err))
		return false
	}
	x.store = st
	if err := st.Check(ctx); err != nil {
		x.reportFailure(CheckDatabase, "the database cannot be used: "+errorLine(err), fixOf(err))
		return false
	}
	if v, ok := st.(interface {
		VerifyIntegrity(context.Context) (bool, error)
	}); ok {
		if _, err := v.VerifyIntegrity(ctx); err != nil {
			x.reportFailure(CheckDatabase, "the database is damaged: "+errorLine(err), fixDamage)
			return false
		}
	}
	if x.connections, err = st.ListConnections(ctx); err != nil {
		x.reportUnreadable(CheckDatabase, err)
		return false
	}
	x.reportGood(CheckDatabase, "the database opens, can be written and has the schema of this program")
	x.verified(ctx)
	return true
}

// verified reports when a server last read the whole database, and which modes its last start had to restore.
func (x *checkup) verified(ctx context.Context) {
	rt, err := x.store.Runtime(ctx)
	if err != nil {
		x.reportUnreadable(CheckDatabase, err)
	}
	for _, c := range rt.Components {
		on := c.At.UTC().Format(time.DateOnly)
		switch {
		case c.Name == store.ComponentDatabase && c.Reason == "":
			x.reportGood(CheckDatabase, "the server last found the whole database sound on "+on)
		case c.Name == store.ComponentFileModes && c.Reason != "":
			x.reportWarning(CheckFolder, "other users of this machine could reach "+strings.ReplaceAll(c.Reason, ",",
				", ")+" until the server restored the modes on "+on, fixModes)
		}
	}
}

// checkKeyFile looks at what credentials are sealed with.
func (x *checkup) checkKeyFile(ctx context.Context) {
	if !x.Key.IsZero() {
		x.key = x.Key
		x.reportGood(CheckKey, "the key is in the configuration")
		return
	}
	path := filepath.Join(x.Home, credential.KeyFile)
	// Looked for first: loading makes a key where there is none.
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		x.missingKey(ctx, path)
		return
	}
	key, err := credential.LoadKey(x.Home)
	if err != nil {
		x.reportFailure(CheckKey, "the key cannot be used: "+errorLine(err), fixOf(err))
		return
	}
	x.key = key
	x.reportGood(CheckKey, "the key file is there, for its owner alone")
}

func (x *checkup) missingKey(ctx context.Context, path string) {
	for _, c := range x.connections {
		_, err := x.store.Credential(ctx, c.ID)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			x.reportUnreadable(CheckKey, err)
			return
		}
		x.reportFailure(CheckKey, path+" is missing, and there are credentials that only it opens",
			"Restore the file from a backup, or enter the credentials again.")
		return
	}
	x.reportGood(CheckKey, "there is no key yet; the first credential makes one")
}

const (
	littleSkew = 2 * time.Second
	muchSkew   = 30 * time.Second
	fixClock   = "Let the machines set their clocks by the network: sudo timedatectl set-ntp true"
)

// checkClock compares this machine's clock with the database server's, or with the
// newest thing that was written.
func (x *checkup) checkClock(ctx context.Context) {
	runs, err := x.store.ListRuns(ctx, store.RunQuery{Limit: 1})
	if err != nil {
		x.reportUnreadable(CheckClock, err)
		return
	}
	if len(runs) > 0 && x.skewed(runs[0].StartedAt.Sub(x.now),
		"this machine's clock is %v behind the start of the newest run") {
		return
	}
	if x.DatabaseNow == nil {
		x.reportGood(CheckClock, "the clock is not behind what was written")
		return
	}
	before := x.Now()
	theirs, err := x.DatabaseNow(ctx)
	after := x.Now()
	if err != nil {
		x.reportUnreadable(CheckClock, err)
		return
	}
	// Somewhere between the question and the answer: only what is outside is certain.
	skew := max(theirs.Sub(after), before.Sub(theirs))
	if !x.skewed(skew, "this machine's clock and the database server's are %v apart") {
		x.reportGood(CheckClock, "the clock agrees with the database server's")
	}
}

func (x *checkup) skewed(by time.Duration, message string) bool {
	message = fmt.Sprintf(message, by.Round(time.Second))
	switch {
	case by > muchSkew:
		x.reportFailure(CheckClock, message, fixClock)
	case by > littleSkew:
		x.reportWarning(CheckClock, message, fixClock)
	default:
		return false
	}
	return true
}
