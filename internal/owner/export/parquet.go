package export

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/parquet-go/parquet-go"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// rowsPerGroup bounds the memory of a Parquet file: a group is held until it is complete.
const rowsPerGroup = 20_000

// ownColumns are the columns that every typed file has. A field with such a name has no column of its own.
var ownColumns = []string{columnKey, "_connection_id", "_changed_at", "_emitted_at", "_version", "_deleted",
	columnOther, columnSeq}

type parquetFile struct {
	w       *parquet.GenericWriter[any]
	columns []string // in the order of the file
	kinds   []string // of the columns
	row     parquet.Row
}

func newParquet(to io.Writer, streams []api.Stream) (Writer, error) {
	return openParquet(to, streams, false)
}

// openParquet returns a writer of records, or of changes with their numbers.
func openParquet(to io.Writer, streams []api.Stream, changes bool) (Writer, error) {
	if len(streams) != 1 {
		return nil, errors.New("a Parquet file holds one stream")
	}
	instant := parquet.Timestamp(parquet.Microsecond)
	root := parquet.Group{
		columnKey: parquet.String(), "_connection_id": parquet.String(), "_changed_at": instant, "_emitted_at": instant,
		"_version": parquet.Int(64), "_deleted": parquet.Leaf(parquet.BooleanType),
		columnOther: parquet.Optional(parquet.JSON()),
	}
	if changes {
		root[columnSeq] = parquet.Int(64)
	}
	for _, name := range streams[0].Fields {
		if slices.Contains(ownColumns, name) {
			continue
		}
		root[name] = parquet.Optional(parquetColumn(streams[0].FieldKinds[name]))
	}
	for name, column := range root {
		root[name] = parquet.Compressed(column, &parquet.Zstd)
	}
	f := &parquetFile{row: make(parquet.Row, len(root))}
	schema := parquet.NewSchema("records", root)
	for _, path := range schema.Columns() {
		f.columns, f.kinds = append(f.columns, path[0]), append(f.kinds, streams[0].FieldKinds[path[0]])
	}
	f.w = parquet.NewGenericWriter[any](to, schema, parquet.MaxRowsPerRowGroup(rowsPerGroup),
		parquet.CreatedBy("pdpp", "", ""))
	return f, nil
}

func parquetColumn(kind string) parquet.Node {
	switch kind {
	case api.FieldText:
		return parquet.String()
	case api.FieldInteger:
		return parquet.Int(64)
	case api.FieldNumber:
		return parquet.Leaf(parquet.DoubleType)
	case api.FieldBoolean:
		return parquet.Leaf(parquet.BooleanType)
	case api.FieldDate:
		return parquet.Date()
	case api.FieldTime:
		return parquet.Timestamp(parquet.Microsecond)
	}
	return parquet.JSON()
}

func (f *parquetFile) Write(_ *api.Stream, r *Record) error {
	members := r.fields()
	other := -1
	for i, name := range f.columns {
		var value parquet.Value
		depth := 0 // of an optional column that has a value
		switch name {
		case columnKey:
			value = parquet.ByteArrayValue([]byte(r.Key))
		case "_connection_id":
			value = parquet.ByteArrayValue([]byte(r.ConnectionID))
		case "_changed_at":
			value = parquet.Int64Value(r.ChangedAt.UnixMicro())
		case "_emitted_at":
			value = parquet.Int64Value(r.EmittedAt.UnixMicro())
		case "_version":
			value = parquet.Int64Value(r.Version)
		case "_deleted":
			value = parquet.BooleanValue(r.Deleted)
		case columnSeq:
			value = parquet.Int64Value(r.Seq)
		case columnOther:
			other = i
		default:
			v, exists := members[name]
			if !exists {
				break
			}
			found, fits := parquetValue(v, f.kinds[i])
			if !fits {
				break
			}
			delete(members, name)
			if value = found; !value.IsNull() {
				depth = 1
			}
		}
		f.row[i] = value.Level(0, depth, i)
	}
	others, err := rest(members)
	if err != nil {
		return err
	}
	if others != "" {
		f.row[other] = parquet.ByteArrayValue([]byte(others)).Level(0, 1, other)
	}
	_, err = f.w.WriteRows([]parquet.Row{f.row})
	return err
}

func (f *parquetFile) Close() error { return f.w.Close() }

// parquetValue converts a value to its column. It returns false for a value of another kind: it goes to _other, so
// that nothing is lost.
func parquetValue(v jsontext.Value, kind string) (parquet.Value, bool) {
	is := v.Kind()
	if is == 'n' {
		return parquet.NullValue(), true
	}
	switch kind {
	case api.FieldText:
		if is != '"' {
			return parquet.NullValue(), false
		}
		text, _ := jsontext.AppendUnquote(nil, v) // what is no UTF-8 is replaced
		return parquet.ByteArrayValue(text), true
	case api.FieldInteger:
		n, err := strconv.ParseInt(string(v), 10, 64)
		return parquet.Int64Value(n), err == nil
	case api.FieldNumber:
		n, err := strconv.ParseFloat(string(v), 64)
		return parquet.DoubleValue(n), is == '0' && err == nil
	case api.FieldBoolean:
		return parquet.BooleanValue(is == 't'), is == 't' || is == 'f'
	case api.FieldDate:
		day, err := time.Parse(time.DateOnly, valueText(v))
		return parquet.Int32Value(int32(day.Unix() / 86400)), is == '"' && err == nil
	case api.FieldTime:
		at, err := time.Parse(time.RFC3339Nano, valueText(v))
		exact := at.Nanosecond()%1000 == 0
		return parquet.Int64Value(at.UnixMicro()), is == '"' && err == nil && exact
	}
	compact := v.Clone()
	err := compact.Compact()
	return parquet.ByteArrayValue(compact), err == nil && compact.IsValid()
}
