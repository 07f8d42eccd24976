package document

import "github.com/pdpp-go/pdpp/declarative/expression"

// Component is one of the component types of this package, as a pointer.
type Component interface {
	base() *Base
}

// Base is part of every component.
type Base struct {
	Type       string           // the type that the document names or that is the default
	Path       string           // where the component is
	Parameters expression.Value // $parameters, if a template of the component reads them
}

func (b *Base) base() *Base { return b }

// BaseOf returns the common part of a component.
func BaseOf(c Component) *Base { return c.base() }

// Stream is a stream of records.
type Stream struct {
	Base
	Name            string      `decl:"name"`
	PrimaryKey      PrimaryKey  `decl:"primary_key"`
	Retriever       *Retriever  `decl:"retriever" need:"yes" only:"SimpleRetriever"`
	IncrementalSync *Cursor     `decl:"incremental_sync" only:"DatetimeBasedCursor"`
	SchemaLoaders   []Component `decl:"schema_loader" only:"schema"`
	Transformations []Component `decl:"transformations" only:"transformation"`
	StateMigrations *Node       `decl:"state_migrations"`
	FileUploader    *Node       `decl:"file_uploader" refuse:"It uploads files."`
}

// PrimaryKey lists the key fields of a record. Each field is a path.
type PrimaryKey [][]string

// Retriever reads the records of a stream.
type Retriever struct {
	Base
	Requester        *Requester  `decl:"requester" need:"yes" only:"HttpRequester"`
	Selector         *Selector   `decl:"record_selector" need:"yes" only:"RecordSelector"`
	Paginator        Component   `decl:"paginator" only:"DefaultPaginator NoPagination"`
	Decoder          Component   `decl:"decoder" only:"JsonDecoder"`
	PartitionRouters []Component `decl:"partition_router" only:"SubstreamPartitionRouter ListPartitionRouter"`
	PaginationReset  *Node       `decl:"pagination_reset" refuse:"It starts paging again within a stream."`
	FirstPageOnly    bool        `decl:"ignore_stream_slicer_parameters_on_paginated_requests"`
}

// Requester describes the requests of a stream.
type Requester struct {
	Base
	URLBase         Template  `decl:"url_base" scope:"request"`
	URL             Template  `decl:"url" scope:"request"`
	Path            Template  `decl:"path" scope:"request"`
	Method          string    `decl:"http_method" enum:"GET POST"`
	Authenticator   Component `decl:"authenticator" only:"authenticator"`
	Query           Inputs    `decl:"request_parameters" scope:"request"`
	Headers         Inputs    `decl:"request_headers" scope:"request"`
	BodyData        Inputs    `decl:"request_body_data" scope:"request"`
	BodyJSON        Inputs    `decl:"request_body_json" scope:"request"`
	Body            Component `decl:"request_body" only:"body"`
	ErrorHandler    Component `decl:"error_handler" only:"DefaultErrorHandler CompositeErrorHandler"`
	UseCache        bool      `decl:"use_cache"`
	QueryProperties *Node     `decl:"query_properties" refuse:"It asks for fields in parts."`
	FetchProperties *Node     `decl:"fetch_properties_from_endpoint" refuse:"It asks for the names of fields."`
}

// Selector finds the records of an answer.
type Selector struct {
	Base
	Extractor       *Extractor    `decl:"extractor" need:"yes" only:"DpathExtractor"`
	Filter          *RecordFilter `decl:"record_filter" only:"RecordFilter"`
	Normalization   string        `decl:"schema_normalization" enum:"None Default"`
	TransformBefore bool          `decl:"transform_before_filtering"`
}

// Extractor is the place of the records in an answer. The name * matches every item.
type Extractor struct {
	Base
	FieldPath []Template `decl:"field_path" scope:"setup"`
	Expander  *Node      `decl:"record_expander" refuse:"It splits a record into several."`
}

// RecordFilter selects records.
type RecordFilter struct {
	Base
	Condition Template `decl:"condition" scope:"record"`
}

// JSONDecoder reads an answer as JSON.
type JSONDecoder struct{ Base }

// InlineSchema is a JSON schema in the document.
type InlineSchema struct {
	Base
	Schema *Node `decl:"schema"`
}

// AbsentSchema is a schema that is not part of the document. The stream has an open schema.
type AbsentSchema struct{ Base }

// RequestOption is a place in a request.
type RequestOption struct {
	Base
	InjectInto string     `decl:"inject_into" need:"yes" enum:"request_parameter header body_data body_json"`
	FieldName  Template   `decl:"field_name" scope:"setup"`
	FieldPath  []Template `decl:"field_path" scope:"setup"`
}

// RequestPath replaces the address of a request.
type RequestPath struct{ Base }

// Paginator asks for one page after another.
type Paginator struct {
	Base
	Strategy   Component      `decl:"pagination_strategy" need:"yes" only:"strategy"`
	SizeOption *RequestOption `decl:"page_size_option" only:"RequestOption"`
	PageOption Component      `decl:"page_token_option" only:"RequestOption RequestPath"`
	Decoder    Component      `decl:"decoder" only:"JsonDecoder"`
	URLBase    Template       `decl:"url_base" scope:"request"`
}

// NoPagination reads a single page.
type NoPagination struct{ Base }

// PageIncrement counts pages.
type PageIncrement struct {
	Base
	PageSize      Template `decl:"page_size" scope:"setup"`
	StartFromPage int      `decl:"start_from_page"`
	InjectOnFirst bool     `decl:"inject_on_first_request"`
}

// OffsetIncrement counts records.
type OffsetIncrement struct {
	Base
	PageSize      Template `decl:"page_size" scope:"setup"`
	InjectOnFirst bool     `decl:"inject_on_first_request"`
}

// CursorPagination takes the next page from the answer.
type CursorPagination struct {
	Base
	CursorValue   Template  `decl:"cursor_value" need:"yes" scope:"paging"`
	StopCondition Template  `decl:"stop_condition" scope:"paging"`
	PageSize      Template  `decl:"page_size" scope:"setup"`
	Decoder       Component `decl:"decoder" only:"JsonDecoder"`
}

// ListRouter makes a partition of each value.
type ListRouter struct {
	Base
	Values        []Template     `decl:"values" need:"yes" scope:"setup"` // one Template may result in a list
	CursorField   Template       `decl:"cursor_field" need:"yes" scope:"setup"`
	RequestOption *RequestOption `decl:"request_option" only:"RequestOption"`
}

// SubstreamRouter makes a partition of each record of the parents.
type SubstreamRouter struct {
	Base
	Parents []*Parent `decl:"parent_stream_configs" need:"yes" only:"ParentStreamConfig"`
}

// Parent is a stream with a child stream.
type Parent struct {
	Base
	Stream        *Stream        `decl:"stream" need:"yes" only:"DeclarativeStream"`
	ParentKey     Template       `decl:"parent_key" need:"yes" scope:"setup"`
	Partition     Template       `decl:"partition_field" need:"yes" scope:"setup"`
	RequestOption *RequestOption `decl:"request_option" only:"RequestOption"`
	Incremental   bool           `decl:"incremental_dependency"`
	ExtraFields   [][]string     `decl:"extra_fields"`
	LazyPointer   []string       `decl:"lazy_read_pointer" refuse:"It reads children inside of parents."`
}

// Cursor collects a stream by windows of time.
type Cursor struct {
	Base
	CursorField       Template       `decl:"cursor_field" need:"yes" scope:"setup"`
	Format            string         `decl:"datetime_format" need:"yes"`
	CursorFormats     []string       `decl:"cursor_datetime_formats"`
	Start             *MinMax        `decl:"start_datetime" need:"yes" only:"MinMaxDatetime"`
	End               *MinMax        `decl:"end_datetime" only:"MinMaxDatetime"`
	StartOption       *RequestOption `decl:"start_time_option" only:"RequestOption"`
	EndOption         *RequestOption `decl:"end_time_option" only:"RequestOption"`
	Step              Template       `decl:"step" scope:"setup"`
	Granularity       string         `decl:"cursor_granularity"`
	Lookback          Template       `decl:"lookback_window" scope:"setup"`
	PartitionStart    Template       `decl:"partition_field_start" scope:"setup"`
	PartitionEnd      Template       `decl:"partition_field_end" scope:"setup"`
	DataFeed          bool           `decl:"is_data_feed"`
	ClientSide        bool           `decl:"is_client_side_incremental"`
	CompareStrictly   bool           `decl:"is_compare_strictly"`
	GlobalForChildren bool           `decl:"global_substream_cursor"`
	Clamping          *Node          `decl:"clamping"`
	FromCatalog       bool           `decl:"allow_catalog_defined_cursor_field"`
}

// MinMax is a time within bounds.
type MinMax struct {
	Base
	Datetime Template `decl:"datetime" need:"yes" scope:"setup"`
	Format   string   `decl:"datetime_format"`
	Min      Template `decl:"min_datetime" scope:"setup"`
	Max      Template `decl:"max_datetime" scope:"setup"`
}
