package maintenance

import (
	"context"
	"path/filepath"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
)

// recordInHome writes an entry into the audit trail of a home. A failure is printed as a warning, because the operation
// has succeeded.
func recordInHome(ctx context.Context, inv *command.Invocation, home string, e audit.Entry) {
	st, err := sqlite.Open(ctx, filepath.Join(home, command.DatabaseFile),
		sqlite.Options{BusyTimeout: inv.Env.BusyTimeout})
	if err != nil {
		output.Printf(inv.ErrOut, "warning: the audit trail of %s was not written: %s\n", home, failure.SafeText(err.Error()))
		return
	}
	defer st.Close()
	inv.LocalTrail(st).Record(ctx, e)
}
