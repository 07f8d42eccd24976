package browse

import (
	"context"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/records"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// beside opens the record that an address names, and returns the label of its stream.
func (p *browsePages) beside(
	ctx context.Context,
	all *things.Streams,
	named string,
) (o *records.Opened, in string, err error) {
	parts := strings.Split(named, "/")
	for i := range parts {
		if parts[i], err = ui.Unsegment(parts[i]); err != nil {
			parts = nil
			break
		}
	}
	if len(parts) != 3 {
		return nil, "", api.NotFound("There is no such record.", "Follow a link from the list.")
	}
	if s := all.Find(parts[0], parts[1]); s != nil {
		in = s.Label + ", " + s.ConnectionName
	}
	o, err = records.Open(ctx, p.Owner, parts[0], parts[1], parts[2])
	return o, in, err
}
