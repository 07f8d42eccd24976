package grantview

import (
	"encoding/json"

	"pdpp/manifest"
)

// StreamSchema is what a stream's records look like.
type StreamSchema struct {
	Object       string          `json:"object"` // stream
	ConnectionID string          `json:"connection_id"`
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	Schema       json.RawMessage `json:"schema"`
	PrimaryKey   []string        `json:"primary_key"`
	CursorField  string          `json:"cursor_field,omitempty"`
	// FilterFields are those that records may be filtered by.
	FilterFields []string `json:"filter_fields,omitempty"`
}

// SchemaOf takes from a stream's declaration what a client may read. How the
// stream is collected, and how completely, is the owner's.
func SchemaOf(connectionID string, s *manifest.Stream) StreamSchema {
	return StreamSchema{
		Object: ObjectStream, ConnectionID: connectionID, Name: s.Name, Description: s.Description, Schema: s.Schema,
		PrimaryKey: append([]string{}, s.PrimaryKey...), CursorField: s.CursorField,
	}
}

// SchemaList is what the records of every stream look like.
type SchemaList struct {
	Object string         `json:"object"` // list
	Data   []StreamSchema `json:"data"`
}

// NewSchemaList makes a list that is never null.
func NewSchemaList(schemas []StreamSchema) SchemaList {
	return SchemaList{Object: ObjectList, Data: append([]StreamSchema{}, schemas...)}
}

// Connector is a kind of source, by its name alone.
type Connector struct {
	Object string `json:"object"` // connector
	ID     string `json:"id"`
	Name   string `json:"name"`
}

// ConnectorList is every kind of source that can be read.
type ConnectorList struct {
	Object string      `json:"object"` // list
	Data   []Connector `json:"data"`
}

// NewConnectorList makes a list that is never null.
func NewConnectorList(connectors []Connector) ConnectorList {
	data := make([]Connector, len(connectors))
	for i, c := range connectors {
		c.Object = ObjectConnector
		data[i] = c
	}
	return ConnectorList{Object: ObjectList, Data: data}
}
