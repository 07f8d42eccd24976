package life

import (
	"context"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/manage"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// named is a record as an address names it that opens it beside a list.
func (t *thing) named() string {
	return strings.Join([]string{ui.Segment(t.ConnectionID), ui.Segment(t.Stream), ui.Segment(t.Key)}, "/")
}

// beside opens the record that an address names, and says what it is of.
func (p *pages) beside(ctx context.Context, all *streams, named string) (o *manage.Opened, in string, err error) {
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
	if s := all.find(parts[0], parts[1]); s != nil {
		in = s.Label + ", " + s.ConnectionName
	}
	o, err = manage.Open(ctx, p.Owner, parts[0], parts[1], parts[2])
	return o, in, err
}
