package presenter

import (
	"slices"
	"strings"

	"sluice/engine/database"
	"sluice/engine/gate"
	"sluice/engine/project"
	"sluice/engine/replay"
	"sluice/engine/transform"
)

// MetaKind is how a setting of a metadata object is edited.
type MetaKind int

// The kinds of settings.
const (
	MetaText    MetaKind = iota
	MetaNumber           // a whole number, or a variable
	MetaSecret           // a password, encoded as Hop does; what is stored is never shown
	MetaFlag             // true or false
	MetaYesNo            // Y or N in a text
	MetaChoice           // one of Choices
	MetaVariant          // the only key of an object, one of Choices
	MetaLines            // a text of several lines
	MetaRows             // a list of objects, one a row, or of texts
	MetaFile             // a path of this machine or of a remote
	MetaOptions          // members of an object whose keys begin with Prefix, one a row
)

// MetaField is one setting of a metadata object: where it stands in the JSON, and how
// it is shown.
type MetaField struct {
	Path     []string // keys from the outermost object; "*" is an object's first key
	Label    string
	Help     string
	Kind     MetaKind
	Required bool
	Wide     bool   // takes the whole line
	Default  string // what an absent setting means
	Refers   string // type of metadata whose names are offered
	Choices  []transform.Choice
	Columns  []MetaColumn // of MetaRows; one with no key is a list of texts
	// Only shows the setting for some variants; empty shows it for all.
	Only []string
	// When shows the setting only while the flag of this label is set.
	When string
	// Prefix of the keys of MetaOptions; "*" is the variant.
	Prefix string
}

// MetaColumn is one column of MetaRows.
type MetaColumn struct {
	Key, Label string
	Share      float32 // of the width
	Number     bool    // written as a JSON number
}

// MetaType is a type of metadata.
type MetaType struct {
	Key    string // name of its folder
	Name   string // of the group: "Database connections"
	One    string // "database connection"
	Icon   string
	Fields []MetaField // nil: it is edited as JSON only
	Blank  string      // the JSON of a new one but for its name
	// Tags are the settings in pipelines and workflows that name an object of the type.
	Tags []string
}

// Types of the tree that are no folders of metadata.
const (
	MetaRemote      = "remote"
	MetaEnvironment = "environment"
	MetaProject     = "project"
)

var variableColumns = []MetaColumn{{Key: "name", Label: "Name", Share: 2.4}, {Key: "value", Label: "Value", Share: 3}, {Key: "description", Label: "Description", Share: 3}}

// MetaTypes lists the types that have a form, in the order of the tree.
func MetaTypes() []MetaType {
	return []MetaType{
		connectionType(), pipelineRunType(), workflowRunType(), restType(),
		{
			Key: project.TypeExecutionInfoLocation, Name: "Execution information locations", One: "execution information location", Icon: "executions",
			Fields: []MetaField{
				description(),
				{Path: []string{"executionInfoLocation"}, Label: "Kind", Kind: MetaVariant, Choices: codes("local-folder", "caching-file-location", "remote-location", "neo4j-location")},
				{Path: []string{"dataLoggingDelay"}, Label: "Delay before the first record (ms)", Kind: MetaNumber, Default: "2000"},
				{Path: []string{"dataLoggingInterval"}, Label: "Interval between records (ms)", Kind: MetaNumber, Default: "5000"},
				{Path: []string{"executionInfoLocation", "*", "rootFolder"}, Label: "Folder", Kind: MetaFile, Wide: true, Only: []string{"local-folder", "caching-file-location"}},
			},
			Blank: `{"executionInfoLocation":{"local-folder":{"pluginId":"local-folder","pluginName":"File location","rootFolder":""}},"dataLoggingDelay":"2000","dataLoggingInterval":"5000","description":""}`,
		},
		{
			Key: project.TypePartition, Name: "Partition schemas", One: "partition schema", Icon: "link",
			Fields: []MetaField{
				{Path: []string{"dynamicallyDefined"}, Label: "Number of partitions decides", Kind: MetaFlag},
				{Path: []string{"numberOfPartitions"}, Label: "Number of partitions", Kind: MetaNumber},
				{Path: []string{"partitionIDs"}, Label: "Partitions", Kind: MetaRows, Columns: []MetaColumn{{Label: "Partition", Share: 1}}},
			},
			Blank: `{"dynamicallyDefined":true,"numberOfPartitions":"","partitionIDs":[]}`,
		},
		{
			Key: project.TypeSchemaDefinition, Name: "Schema definitions", One: "schema definition", Icon: "t-table", Tags: []string{"schemaDefinition", "schema_definition"},
			Fields: []MetaField{
				description(),
				{Path: []string{"separator"}, Label: "Separator"},
				{Path: []string{"enclosure"}, Label: "Enclosure"},
				{Path: []string{"fieldDefinitions"}, Label: "Fields", Kind: MetaRows, Columns: []MetaColumn{
					{Key: "name", Label: "Name", Share: 2.4},
					{Key: "hopType", Label: "Type", Share: 1.6},
					{Key: "length", Label: "Length", Share: 1, Number: true},
					{Key: "precision", Label: "Precision", Share: 1, Number: true},
					{Key: "formatMask", Label: "Format", Share: 1.8},
				}},
			},
			Blank: `{"enclosure":"","separator":"","description":"","fieldDefinitions":[]}`,
		},
	}
}

func description() MetaField {
	return MetaField{Path: []string{"description"}, Label: "Description", Wide: true}
}

func codes(list ...string) []transform.Choice {
	var out []transform.Choice
	for _, c := range list {
		out = append(out, transform.Choice{Code: c})
	}
	return out
}

// databaseTypes are the types of database by Hop's ids; those that cannot be opened
// yet can be set up all the same.
func databaseTypes() []transform.Choice {
	list := []transform.Choice{
		{Code: "POSTGRESQL", Label: "PostgreSQL"},
		{Code: "MARIADB", Label: "MariaDB"},
		{Code: "MYSQL", Label: "MySQL"},
		{Code: "SQLITE", Label: "SQLite"},
		{Code: "MSSQLNATIVE", Label: "Microsoft SQL Server"},
		{Code: "ORACLE", Label: "Oracle"},
		{Code: "GENERIC", Label: "Generic database"},
	}
	for i := range list {
		if !slices.Contains(database.Supported(), list[i].Code) {
			list[i].Label += " (runs in Hop only)"
		}
	}
	return list
}

// The flags of a connection that other settings depend on.
const (
	labelTunnel     = "Connect through an SSH tunnel"
	labelPrivateKey = "Use a private key for the tunnel"
)

func connectionType() MetaType {
	at := func(key string) []string { return []string{"rdbms", "*", key} }
	attribute := func(key string) []string { return []string{"rdbms", "*", "attributes", key} }
	servers := []string{"POSTGRESQL", "MARIADB", "MYSQL", "MSSQLNATIVE", "ORACLE"}
	return MetaType{
		Key: project.TypeRDBMS, Name: "Database connections", One: "database connection", Icon: "cat-database", Tags: []string{"connection"},
		Fields: []MetaField{
			{Path: []string{"rdbms"}, Label: "Type", Kind: MetaVariant, Choices: databaseTypes(), Required: true, Wide: true},
			{Path: at("hostname"), Label: "Host", Required: true, Only: servers},
			{Path: at("port"), Label: "Port", Kind: MetaNumber, Only: servers},
			{Path: at("databaseName"), Label: "Database", Required: true, Only: servers},
			{Path: at("databaseName"), Label: "Database file", Kind: MetaFile, Wide: true, Required: true, Help: "Empty or :memory: is a database that lives as long as the run", Only: []string{"SQLITE"}},
			{Path: attribute("PREFERRED_SCHEMA_NAME"), Label: "Preferred schema", Only: servers},
			{Path: at("username"), Label: "User name", Only: append(slices.Clone(servers), "GENERIC")},
			{Path: at("password"), Label: "Password", Kind: MetaSecret, Only: append(slices.Clone(servers), "GENERIC")},
			{Path: at("instanceName"), Label: "Instance name", Help: "Counts where there is no port", Only: []string{"MSSQLNATIVE"}},
			{Path: at("usingIntegratedSecurity"), Label: "Log in as the user of the system", Kind: MetaFlag, Only: []string{"MSSQLNATIVE"}},
			{Path: at("dataTablespace"), Label: "Tablespace of tables", Only: []string{"ORACLE"}},
			{Path: at("indexTablespace"), Label: "Tablespace of indexes", Only: []string{"ORACLE"}},
			{Path: at("manualUrl"), Label: "URL", Wide: true, Help: "Replaces host, port and database"},
			{Path: at("driverClassName"), Label: "Driver class", Wide: true, Only: []string{"GENERIC"}},
			{Path: attribute("SQL_CONNECT"), Label: "SQL after connecting", Kind: MetaLines, Wide: true},
			{Path: attribute("SUPPORTS_BOOLEAN_DATA_TYPE"), Label: "Has a boolean type", Kind: MetaYesNo},
			{Path: attribute("SUPPORTS_TIMESTAMP_DATA_TYPE"), Label: "Reads timestamps as Timestamp", Kind: MetaYesNo},
			{Path: attribute("QUOTE_ALL_FIELDS"), Label: "Quote all names", Kind: MetaYesNo},
			{Path: attribute("PRESERVE_RESERVED_WORD_CASE"), Label: "Keep the case of reserved words", Kind: MetaYesNo},
			{Path: attribute("FORCE_IDENTIFIERS_TO_LOWERCASE"), Label: "Write names in lower case", Kind: MetaYesNo},
			{Path: attribute("FORCE_IDENTIFIERS_TO_UPPERCASE"), Label: "Write names in upper case", Kind: MetaYesNo},
			{Path: attribute("STREAM_RESULTS"), Label: "Stream results", Kind: MetaYesNo, Only: []string{"MYSQL"}},
			{Path: attribute("STRICT_NUMBER_38_INTERPRETATION"), Label: "Read NUMBER(38) as whole numbers", Kind: MetaYesNo, Only: []string{"ORACLE"}},
			{Path: at("sshTunnelEnabled"), Label: labelTunnel, Kind: MetaFlag, Only: servers},
			{Path: at("sshTunnelHost"), Label: "SSH host", Required: true, When: labelTunnel, Only: servers},
			{Path: at("sshTunnelPort"), Label: "SSH port", Kind: MetaNumber, Default: "22", When: labelTunnel, Only: servers},
			{Path: at("sshTunnelUsername"), Label: "SSH user name", Required: true, When: labelTunnel, Only: servers},
			{Path: at("sshTunnelPassword"), Label: "SSH password", Kind: MetaSecret, Help: "Not used with a private key", When: labelTunnel, Only: servers},
			{Path: at("sshTunnelUsePrivateKey"), Label: labelPrivateKey, Kind: MetaFlag, When: labelTunnel, Only: servers},
			{Path: at("sshTunnelPassphrase"), Label: "Passphrase of the key", Kind: MetaSecret, When: labelPrivateKey, Only: servers},
			{Path: at("sshTunnelPrivateKeyFile"), Label: "Private key file", Kind: MetaFile, Required: true, Wide: true, When: labelPrivateKey, Only: servers},
			{Path: []string{"rdbms", "*", "attributes"}, Label: "Driver options", Kind: MetaOptions, Prefix: "EXTRA_OPTION_*.", Columns: []MetaColumn{
				{Key: "name", Label: "Option", Share: 1}, {Key: "value", Label: "Value", Share: 1},
			}},
		},
		Blank: `{"rdbms":{"SQLITE":{"databaseName":"","pluginId":"SQLITE","accessType":0,"hostname":"","password":"Encrypted ","pluginName":"SQLite","port":"",` +
			`"attributes":{"SUPPORTS_TIMESTAMP_DATA_TYPE":"N","QUOTE_ALL_FIELDS":"N","SUPPORTS_BOOLEAN_DATA_TYPE":"N","FORCE_IDENTIFIERS_TO_LOWERCASE":"N",` +
			`"PRESERVE_RESERVED_WORD_CASE":"Y","SQL_CONNECT":"","FORCE_IDENTIFIERS_TO_UPPERCASE":"N","PREFERRED_SCHEMA_NAME":""},"manualUrl":"","username":""}},"virtualPath":""}`,
	}
}

func pipelineRunType() MetaType {
	at := func(key string) []string { return []string{"engineRunConfiguration", "*", key} }
	local := []string{project.EngineLocal, gate.EngineSafe}
	return MetaType{
		Key: project.TypePipelineRunConfiguration, Name: "Pipeline run configurations", One: "pipeline run configuration", Icon: "run",
		Tags: []string{"run_configuration", "runConfiguration", "runConfigurationName"},
		Fields: []MetaField{
			description(),
			{Path: []string{"engineRunConfiguration"}, Label: "Engine", Kind: MetaVariant, Required: true, Choices: []transform.Choice{
				{Code: project.EngineLocal, Label: "Local", Help: "Runs on this machine"},
				{Code: gate.EngineSafe, Label: "Safe", Help: "Keeps the rows of every transform and goes on where a run failed"},
			}},
			{Path: at("rowset_size"), Label: "Rows in the buffer of a hop", Kind: MetaNumber, Default: "10000", Only: local},
			{Path: at("sample_type_in_gui"), Label: "Rows kept for looking at", Kind: MetaChoice, Choices: codes("None", "First", "Last", "Random"), Default: "Last", Only: local},
			{Path: at("sample_size"), Label: "How many of them", Kind: MetaNumber, Default: "100", Only: local},
			{Path: at("feedback_size"), Label: "Rows between two lines of feedback", Kind: MetaNumber, Default: "50000", Only: local},
			{Path: at("wait_time"), Label: "Wait before a new try (ms)", Kind: MetaNumber, Default: "20", Only: local},
			{Path: []string{"defaultSelection"}, Label: "The default of the project", Kind: MetaFlag},
			{Path: at("safe_mode"), Label: "Check the layout of every row", Kind: MetaFlag, Only: local},
			{Path: at("gather_metrics"), Label: "Gather metrics", Kind: MetaFlag, Only: local},
			{Path: at("topo_sort"), Label: "Sort transforms first", Kind: MetaFlag, Only: local},
			{Path: at("show_feedback"), Label: "Write feedback to the log", Kind: MetaFlag, Only: local},
			{Path: at("transactional"), Label: "One transaction for the pipeline", Kind: MetaFlag, Only: local},
			{Path: []string{"executionInfoLocationName"}, Label: "Execution information location", Refers: project.TypeExecutionInfoLocation},
			{Path: []string{"dataProfile"}, Label: "Execution data profile", Refers: project.TypeExecutionDataProfile},
			{Path: []string{"configurationVariables"}, Label: "Variables", Kind: MetaRows, Columns: variableColumns},
		},
		Blank: `{"engineRunConfiguration":{"Local":{"feedback_size":"50000","sample_size":"100","sample_type_in_gui":"Last","wait_time":"20","rowset_size":"10000",` +
			`"safe_mode":false,"show_feedback":false,"topo_sort":false,"gather_metrics":false,"transactional":false}},"defaultSelection":false,` +
			`"configurationVariables":[],"description":"","dataProfile":"","executionInfoLocationName":""}`,
	}
}

func workflowRunType() MetaType {
	at := func(key string) []string { return []string{"engineRunConfiguration", "*", key} }
	return MetaType{
		Key: project.TypeWorkflowRunConfiguration, Name: "Workflow run configurations", One: "workflow run configuration", Icon: "workflow",
		Tags: []string{"run_configuration", "runConfiguration", "runConfigurationName"},
		Fields: []MetaField{
			description(),
			{Path: []string{"engineRunConfiguration"}, Label: "Engine", Kind: MetaVariant, Required: true, Choices: []transform.Choice{
				{Code: project.EngineLocal, Label: "Local", Help: "Runs on this machine"},
				{Code: replay.Engine, Label: "Replay", Help: "Goes on where the last run of the file failed, when that is safe"},
			}},
			{Path: []string{"executionInfoLocationName"}, Label: "Execution information location", Refers: project.TypeExecutionInfoLocation},
			{Path: []string{"defaultSelection"}, Label: "The default of the project", Kind: MetaFlag},
			{Path: at("safe_mode"), Label: "Check the layout of every row", Kind: MetaFlag, Only: []string{project.EngineLocal}},
			{Path: at("transactional"), Label: "One transaction for the workflow", Kind: MetaFlag, Only: []string{project.EngineLocal}},
		},
		Blank: `{"engineRunConfiguration":{"Local":{"safe_mode":false,"transactional":false}},"defaultSelection":false,"description":"","executionInfoLocationName":""}`,
	}
}

func restType() MetaType {
	return MetaType{
		Key: project.TypeRESTConnection, Name: "REST connections", One: "REST connection", Icon: "cat-web", Tags: []string{"connection_name", "connectionName"},
		Fields: []MetaField{
			description(),
			{Path: []string{"base_url"}, Label: "Base URL", Required: true, Wide: true},
			{Path: []string{"test_url"}, Label: "Test URL", Wide: true},
			{Path: []string{"auth_type"}, Label: "Authentication", Kind: MetaChoice, Default: project.RESTNoAuth, Choices: codes(project.RESTNoAuth, project.RESTBasic, project.RESTBearer, project.RESTAPIKey)},
			{Path: []string{"username"}, Label: "User name"},
			{Path: []string{"password"}, Label: "Password", Kind: MetaSecret},
			{Path: []string{"bearer_token"}, Label: "Bearer token", Kind: MetaSecret},
			{Path: []string{"auth_header_name"}, Label: "Name of the API key's header"},
			{Path: []string{"auth_header_value"}, Label: "API key", Kind: MetaSecret},
			{Path: []string{"connect_timeout"}, Label: "Time to connect (ms)", Kind: MetaNumber},
			{Path: []string{"read_timeout"}, Label: "Time to answer (ms)", Kind: MetaNumber},
			{Path: []string{"proxy_host"}, Label: "Proxy host"},
			{Path: []string{"proxy_port"}, Label: "Proxy port", Kind: MetaNumber},
			{Path: []string{"ignoreSsl"}, Label: "Accept any certificate", Kind: MetaFlag},
		},
		Blank: `{"auth_type":"No Auth","base_url":"","test_url":"","ignoreSsl":false,"description":""}`,
	}
}

// environmentType is a file with variables, one for each place a project runs in.
func environmentType() MetaType {
	return MetaType{
		Key: MetaEnvironment, Name: "Environments", One: "environment", Icon: "variable",
		Fields: []MetaField{{Path: []string{"variables"}, Label: "Variables", Kind: MetaRows, Columns: variableColumns}},
		Blank:  "{\n  \"variables\" : [ ]\n}\n",
	}
}

// projectType is the project's own project-config.json.
func projectType() MetaType {
	return MetaType{
		Key: MetaProject, Name: "Project", One: "project", Icon: "folder",
		Fields: []MetaField{
			description(),
			{Path: []string{"company"}, Label: "Company"},
			{Path: []string{"department"}, Label: "Department"},
			{Path: []string{"version"}, Label: "Version"},
			{Path: []string{"parentProjectName"}, Label: "Parent project"},
			{Path: []string{"metadataBaseFolder"}, Label: "Metadata folder", Default: "${PROJECT_HOME}/metadata"},
			{Path: []string{"dataSetsCsvFolder"}, Label: "Data set folder", Default: "${PROJECT_HOME}/datasets"},
			{Path: []string{"unitTestsBasePath"}, Label: "Unit test folder", Default: "${PROJECT_HOME}"},
			{Path: []string{"enforcingExecutionInHome"}, Label: "Only run files of the project's folder", Kind: MetaFlag, Default: "true"},
			{Path: []string{"config", "variables"}, Label: "Variables", Kind: MetaRows, Columns: variableColumns},
		},
		Blank: "{\n  \"metadataBaseFolder\" : \"${PROJECT_HOME}/metadata\",\n  \"unitTestsBasePath\" : \"${PROJECT_HOME}\",\n  \"dataSetsCsvFolder\" : \"${PROJECT_HOME}/datasets\",\n" +
			"  \"enforcingExecutionInHome\" : true,\n  \"config\" : {\n    \"variables\" : [ ]\n  }\n}\n",
	}
}

// strangers are the names of Hop's types that have no form here.
var strangers = map[string][2]string{
	"dataset": {"Data sets", "data set"}, "unit-test": {"Unit tests", "unit test"}, "execution-data-profile": {"Execution data profiles", "execution data profile"},
	"file-definition": {"File definitions", "file definition"}, "variable-resolver": {"Variable resolvers", "variable resolver"},
	"MailServerConnection": {"Mail server connections", "mail server connection"}, "S3ConnectionDefinition": {"S3 connections", "S3 connection"},
	"server": {"Hop servers", "Hop server"}, "pipeline-log": {"Pipeline logs", "pipeline log"}, "workflow-log": {"Workflow logs", "workflow log"},
	"pipeline-probe": {"Pipeline probes", "pipeline probe"}, "data-stream": {"Data streams", "data stream"}, "neo4j-graph-model": {"Neo4j graph models", "Neo4j graph model"},
	"neo4j-connection": {"Neo4j connections", "Neo4j connection"}, "mongodb-connection": {"MongoDB connections", "MongoDB connection"},
}

// MetaTypeOf gives a type by its key; one that is not known is edited as JSON.
func MetaTypeOf(key string) MetaType {
	for _, t := range append(MetaTypes(), environmentType(), projectType()) {
		if t.Key == key {
			return t
		}
	}
	t := MetaType{Key: key, Name: key, One: key, Icon: "t-file"}
	if names, ok := strangers[key]; ok {
		t.Name, t.One = names[0], names[1]
	}
	if key == project.TypeDataset {
		t.Tags = []string{"dataset", "data_set_name"}
	}
	return t
}

// shows tells whether a setting belongs to a variant.
func (f *MetaField) shows(variant string) bool {
	return len(f.Only) == 0 || variant == "" || slices.ContainsFunc(f.Only, func(v string) bool { return strings.EqualFold(v, variant) })
}
