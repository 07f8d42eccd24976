package serve

import (
	"cmp"
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/internal/owner/service/imports"
)

// lookForFiles asks for runs that read files which were put into import folders by hand, for as long as
// the process runs.
func (s *process) lookForFiles(ctx context.Context, owner *service.Service) {
	dropped := &imports.DroppedFiles{Imports: owner.FileImports}
	every := cmp.Or(s.LookForFiles, 10*time.Second)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
		if err := dropped.Scan(ctx); err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "import folders could not be looked at; it is tried again", "error", err)
		}
	}
}
