package manage

import "github.com/pdpp-go/pdpp/internal/owner/console/ui"

var segment, unsegment = ui.Segment, ui.Unsegment

// pair names a stream of a connection in one value of a form.
func pair(connection, stream string) string { return segment(connection) + "/" + segment(stream) }
