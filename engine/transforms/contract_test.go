package transforms_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"sluice/engine/batch"
	"sluice/engine/database"
	"sluice/engine/files"
	"sluice/engine/project"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms"
)

// subjects are settings with which each transform starts; those without an entry
// start with their defaults.
var subjects = map[string]transformtest.Subject{
	// flow
	"Abort":                      {XML: "<row_threshold>2</row_threshold>"},
	"BlockUntilTransformsFinish": {XML: "<transforms><transform><name>other</name></transform></transforms>"},
	"BlockingTransform":          {XML: "<pass_all_rows>Y</pass_all_rows><cache_size>2</cache_size>"},
	"Delay":                      {XML: "<timeout_field>FIELD</timeout_field>"},
	"PipelineExecutor":           {XML: "<filename>child.hpl</filename><group_field>FIELD</group_field><parameters><variable_mapping><variable>V</variable><field>FIELD</field></variable_mapping></parameters>"},
	"RowsFromResult":             {XML: fields("<name>a</name>", ""), Source: true},
	"SetVariable":                {XML: fields("<field_name>FIELD</field_name><variable_name>V</variable_name>", "")},
	"WriteToLog":                 {XML: "<displayHeader>Y</displayHeader>" + fields("<name>FIELD</name>", "")},

	// generate
	"DataGrid":     {XML: fields("<name>a</name><type>Integer</type>", "") + "<data><line><item>1</item></line><line><item/></line></data>", Source: true},
	"DataSetInput": {XML: "<dataSetName>people</dataSetName>", Source: true, Env: withDataSet},
	"Fake":         {XML: fields("<name>a</name><type>name</type><topic>fullName</topic>", "")},
	"GetVariable":  {XML: fields("<name>a</name><variable>${JUST_TEXT}</variable>", "")},
	"Injector":     {XML: fields("<name>a</name>", ""), Source: true},
	"RandomValue":  {XML: fields("<name>a</name><type>random number</type>", "")},
	"RowGenerator": {XML: "<limit>9000</limit>" + fields("<name>a</name><type>Integer</type><nullif>5</nullif>", ""), Source: true},
	"SystemInfo":   {XML: fields("<name>a</name><type>system date (variable)</type>", "")},

	// json, xml, sheet, text
	"EnhancedJsonOutput":           {XML: "<operation_type>both</operation_type><jsonBloc>data</jsonBloc><file><name>out</name></file><key_fields><key_field><key_field_name>FIELD</key_field_name></key_field></key_fields>" + fields("<name>string</name>", ""), Env: withFiles},
	"JsonInput":                    {XML: "<IsInFields>Y</IsInFields><valueField>FIELD</valueField>" + fields("<name>a</name><path>$.a</path>", ""), Env: withFiles},
	"JsonNormalizeInput":           {XML: "<IsInFields>Y</IsInFields><valueField>FIELD</valueField>" + fields("<name>a</name><path>a</path>", ""), Env: withFiles},
	"JsonOutput":                   {XML: "<operation_type>both</operation_type><fileName>out</fileName><nrRowsInBloc>2</nrRowsInBloc>" + fields("<name>FIELD</name>", ""), Env: withFiles},
	"AddXML":                       {XML: fields("<name>FIELD</name>", "")},
	"getXMLData":                   {XML: "<IsInFields>Y</IsInFields><XmlField>FIELD</XmlField><loopxpath>/r</loopxpath>" + fields("<name>a</name><xPath>a</xPath>", ""), Env: withFiles},
	"XMLInputStream":               {XML: "<sourceFromInput>Y</sourceFromInput><sourceFieldName>FIELD</sourceFieldName><includeXmlPathField>Y</includeXmlPathField>", Env: withFiles},
	"Sequence":                     {XML: "<valuename>n</valuename><use_counter>Y</use_counter>"},
	"XMLOutput":                    {XML: "<file><name>out</name></file>" + fields("<name>FIELD</name>", ""), Env: withFiles},
	"ExcelInput":                   {XML: "<accept_filenames>Y</accept_filenames><accept_field>FIELD</accept_field>" + fields("<name>a</name>", ""), Env: withFiles},
	"TypeExitExcelWriterTransform": {XML: "<file><name>out</name><extension>xlsx</extension></file>" + fields("<name>FIELD</name><type>String</type>", ""), Env: withFiles},
	"CSVInput":                     {XML: "<filename>in.csv</filename><header>Y</header><lazy_conversion>Y</lazy_conversion>" + fields("<name>a</name><type>Integer</type>", "<name>b</name>"), Source: true, Env: withFiles},
	"FileExists":                   {XML: "<filenamefield>FIELD</filenamefield>", Env: withFiles},
	"GetFileNames":                 {XML: "<filefield>Y</filefield><filename_Field>FIELD</filename_Field>", Env: withFiles},
	"TextFileInput2":               {XML: "<file><name>in.csv</name></file><header>Y</header><separator>,</separator>" + fields("<name>a</name><type>Integer</type>", "<name>b</name>"), Source: true, Env: withFiles},
	"TextFileOutput":               {XML: "<file><name>out</name></file><header>Y</header>" + fields("<name>FIELD</name>", ""), Env: withFiles},

	// parquet
	"ParquetFileInput":  {XML: "<filename_field>FIELD</filename_field>" + fields("<source_field>a</source_field>", ""), Env: withFiles},
	"ParquetFileOutput": {XML: "<filename_base>out</filename_base>" + fields("<source_field>FIELD</source_field><target_field>x</target_field>", ""), Env: withFiles},

	// relation
	"AnalyticQuery":       {XML: "<group><field><name>string</name></field></group>" + fields("<aggregate>x</aggregate><subject>FIELD</subject><type>LAG</type>", "")},
	"Append":              {XML: "<head_name>in1</head_name><tail_name>in2</tail_name>", From: two},
	"Denormaliser":        {XML: "<key_field>string</key_field>" + fields("<field_name>FIELD</field_name><key_value>b;a</key_value><target_name>t</target_name>", "")},
	"Flattener":           {XML: "<field_name>FIELD</field_name>" + fields("<name>a</name>", "<name>b</name>")},
	"GroupBy":             {XML: "<group><field><name>boolean</name></field></group>" + fields("<aggregate>x</aggregate><subject>FIELD</subject><type>MIN</type>", "<aggregate>y</aggregate><subject>FIELD</subject><type>COUNT_DISTINCT</type>")},
	"MemoryGroupBy":       {XML: "<group><field><name>FIELD</name></field></group>" + fields("<aggregate>x</aggregate><subject>FIELD</subject><type>MAX</type>", "<aggregate>y</aggregate><subject>FIELD</subject><type>CONCAT_COMMA</type>")},
	"MergeJoin":           {XML: "<join_type>FULL OUTER</join_type><transform1>in1</transform1><transform2>in2</transform2><keys_1><key>FIELD</key></keys_1><keys_2><key>FIELD</key></keys_2>", From: two},
	"MergeRows":           {XML: "<reference>in1</reference><compare>in2</compare><keys><key>FIELD</key></keys><values><value>string</value></values>", From: two},
	"Normaliser":          {XML: fields("<name>FIELD</name><value>A</value><norm>x</norm>", "")},
	"SortRows":            {XML: fields("<name>FIELD</name><ascending>N</ascending>", "<name>string</name>")},
	"SortedMerge":         {XML: fields("<name>FIELD</name><ascending>Y</ascending>", ""), From: two},
	"StreamLookup":        {XML: "<from>side</from><lookup><key><name>FIELD</name><field>FIELD</field></key><value><name>FIELD</name><rename>x</rename></value></lookup>", From: []string{"in1"}, Info: []string{"side"}},
	"Unique":              {XML: "<count_rows>Y</count_rows><count_field>n</count_field>" + fields("<name>FIELD</name>", "")},
	"UniqueRowsByHashSet": {XML: fields("<name>FIELD</name>", "")},

	// rows
	"FieldsChangeSequence": {XML: "<resultfieldName>n</resultfieldName>" + fields("<name>FIELD</name>", "")},
	"CheckSum":             {XML: "<checksumtype>MD5</checksumtype><resultfieldName>n</resultfieldName>" + fields("<name>FIELD</name>", "")},
	"CloneRow":             {XML: "<nrcloneinfield>Y</nrcloneinfield><nrclonefield>FIELD</nrclonefield><addcloneflag>Y</addcloneflag><cloneflagfield>f</cloneflagfield>"},
	"Coalesce":             {XML: fields("<name>c</name><type>String</type><input>FIELD,string</input>", "")},
	"ConcatFields":         {XML: "<ConcatFields><targetFieldName>c</targetFieldName></ConcatFields>" + fields("<name>FIELD</name>", "<name>string</name>")},
	"Constant":             {XML: fields("<name>c</name><type>Integer</type><nullif>5</nullif>", "<name>d</name>")},
	"FieldSplitter":        {XML: "<splitfield>FIELD</splitfield>" + fields("<name>a</name>", "<name>b</name><type>Integer</type>")},
	"IfNull":               {XML: "<selectFields>Y</selectFields>" + fields("<name>FIELD</name><value>1</value>", "")},
	"NullIf":               {XML: fields("<name>FIELD</name><value>1</value>", "")},
	"NumberRange":          {XML: "<inputField>FIELD</inputField><rules><rule><lower_bound>0</lower_bound><upper_bound>5</upper_bound><value>low</value></rule></rules>"},
	"RepeatFields":         {XML: "<group_fields><group_field>string</group_field></group_fields><repeats><field><source_field>FIELD</source_field><target_field>r</target_field></field></repeats>"},
	"ReplaceString":        {XML: fields("<in_stream_name>FIELD</in_stream_name><replace_string>a</replace_string><replace_by_string>b</replace_by_string>", "")},
	"SampleRows":           {XML: "<linesrange>2..3</linesrange><linenumfield>n</linenumfield>"},
	"ReservoirSampling":    {XML: "<reservoir_sampling><sample_size>2</sample_size></reservoir_sampling>"},
	"SelectValues":         {XML: "<fields><field><name>FIELD</name><rename>x</rename></field><meta><name>x</name><type>String</type></meta></fields>"},
	"SetValueConstant":     {XML: fields("<name>FIELD</name><value>1</value>", "")},
	"SetValueField":        {XML: fields("<name>FIELD</name><replaceby>string</replaceby>", "")},
	"SplitFieldToRows3":    {XML: "<splitfield>FIELD</splitfield><newfield>part</newfield><rownum>Y</rownum><rownum_field>n</rownum_field>"},
	"StreamSchema":         {XML: "<transforms><transform><name>in1</name></transform><transform><name>in2</name></transform></transforms>", From: two},
	"StringCut":            {XML: fields("<in_stream_name>FIELD</in_stream_name><cut_from>0</cut_from><cut_to>1</cut_to>", "")},
	"StringOperations":     {XML: fields("<in_stream_name>FIELD</in_stream_name><trim_type>both</trim_type><lower_upper>upper</lower_upper>", "")},
	"ValueMapper":          {XML: "<field_to_use>FIELD</field_to_use><target_field>m</target_field>" + fields("<source_value>1</source_value><target_value>one</target_value>", "")},

	// script
	"Calculator":     {XML: "<calculation><field_name>x</field_name><calc_type>NVL</calc_type><field_a>FIELD</field_a><field_b>FIELD</field_b><value_type>String</value_type></calculation>"},
	"FilterRows":     {XML: "<compare><condition><leftvalue>FIELD</leftvalue><function>&gt;</function><rightvalue>FIELD</rightvalue></condition></compare>"},
	"Formula":        {XML: "<formulas><formula><field_name>x</field_name><formula>IF(ISBLANK([FIELD]),1,2)</formula><value_type>1</value_type></formula></formulas>"},
	"JavaFilter":     {XML: "<condition>true</condition>"},
	"JoinRows":       {XML: "<main>in1</main><compare><condition><leftvalue>FIELD</leftvalue><function>=</function><rightvalue>FIELD_1</rightvalue></condition></compare>", From: two},
	"RegexEval":      {XML: "<matcher>FIELD</matcher><script>a.*</script>"},
	"ScriptValueMod": {XML: "<jsScripts><jsScript><jsScript_type>0</jsScript_type><jsScript_name>main</jsScript_name><jsScript_script>var x = String(" + "FIELD" + ");</jsScript_script></jsScript></jsScripts>" + fields("<name>x</name>", "")},
	"SwitchCase":     {XML: "<fieldname>FIELD</fieldname><cases><case><value>1</value><target_transform>out</target_transform></case></cases>"},

	// sql
	"ColumnExists":          {XML: "<connection>db</connection><tablename>people</tablename><columnnamefield>FIELD</columnnamefield>", Env: withDatabase},
	"DBJoin":                {XML: "<connection>db</connection><sql>SELECT name FROM people WHERE id = ?</sql><outer_join>Y</outer_join><parameter><field><name>FIELD</name></field></parameter>", Env: withDatabase},
	"DBLookup":              {XML: "<connection>db</connection><lookup><table>people</table><key><name>FIELD</name><field>id</field><condition>=</condition></key><value><name>name</name><rename>n</rename></value></lookup>", Env: withDatabase},
	"Delete":                {XML: "<connection>db</connection><lookup><table>people</table><key><name>FIELD</name><field>id</field><condition>=</condition></key></lookup>", Env: withDatabase},
	"ExecSql":               {XML: "<connection>db</connection><sql>DELETE FROM people WHERE id = ?</sql><execute_each_row>Y</execute_each_row><set_params>Y</set_params><arguments><argument><name>FIELD</name></argument></arguments>", Env: withDatabase},
	"ExecSqlRow":            {XML: "<connection>db</connection><sql_field>FIELD</sql_field>", Env: withDatabase},
	"InsertUpdate":          {XML: "<connection>db</connection><lookup><table>people</table><key><name>FIELD</name><field>id</field><condition>=</condition></key><value><name>id</name><rename>integer</rename><update>N</update></value><value><name>name</name><rename>string</rename><update>Y</update></value></lookup>", Env: withDatabase},
	"SynchronizeAfterMerge": {XML: "<connection>db</connection><operation_order_field>FIELD</operation_order_field><order_insert>b;a</order_insert><lookup><table>people</table><key><name>integer</name><field>id</field><condition>=</condition></key><value><name>name</name><rename>string</rename><update>Y</update></value></lookup>", Env: withDatabase},
	"TableExists":           {XML: "<connection>db</connection><tablenamefield>FIELD</tablenamefield>", Env: withDatabase},
	"TableInput":            {XML: "<connection>db</connection><sql>SELECT id, name FROM people</sql>", Source: true, Env: withDatabase},
	"TableOutput":           {XML: "<connection>db</connection><table>log</table><specify_fields>Y</specify_fields>" + fields("<column_name>x</column_name><stream_name>FIELD</stream_name>", ""), Env: withDatabase},
	"Update":                {XML: "<connection>db</connection><lookup><table>people</table><key><name>FIELD</name><field>id</field><condition>=</condition></key><value><name>name</name><rename>string</rename></value></lookup>", Env: withDatabase},
}

var two = []string{"in1", "in2"}

// fields is a table of one or two fields.
func fields(first, second string) string {
	s := "<fields><field>" + first + "</field>"
	if second != "" {
		s += "<field>" + second + "</field>"
	}
	return s + "</fields>"
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// withFiles gives a folder that holds in.csv.
func withFiles(t testing.TB, env *transform.Env) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), "a,b\n1,x\n,\n3,\"y\nz\"\n")
	env.Files = files.Local{Dir: dir}
}

func withDataSet(t testing.TB, env *transform.Env) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "dataset", "people.json"), `{"name":"people","folder_name":"`+dir+`","base_filename":"people.csv",
		"dataset_fields":[{"field_name":"id","field_type":5},{"field_name":"name","field_type":2}]}`)
	write(t, filepath.Join(dir, "people.csv"), "id,name\n1,Ada\n2,\n")
	env.Files = files.Local{Dir: dir}
	env.Design = &transformtest.Design{Resolver: env.Vars, Sem: env.Semantics, Meta: project.OpenMetadata(dir)}
}

// design answers from a pool, as a run does.
type design struct {
	transformtest.Design
	pool *database.Pool
	vars *project.Variables
}

func (d *design) QueryLayout(connection, query string) (*batch.Schema, error) {
	return d.pool.QueryLayout(d.vars, connection, query)
}

func (d *design) TableLayout(connection, schema, table string) (*batch.Schema, error) {
	return d.pool.TableLayout(d.vars, connection, schema, table)
}

// withDatabase gives the connection db with the tables people and log.
func withDatabase(t testing.TB, env *transform.Env) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "rdbms", "db.json"), `{"name":"db","rdbms":{"SQLITE":{"pluginId":"SQLITE","databaseName":"`+filepath.Join(dir, "test.db")+`","attributes":{"EXTRA_OPTION_SQLITE.synchronous":"OFF","EXTRA_OPTION_SQLITE.journal_mode":"MEMORY"}}}}`)
	pool := database.NewPool(database.Options{Metadata: project.OpenMetadata(dir), Scope: env.Vars, Location: time.UTC})
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	db, _, err := pool.DB(t.Context(), "db")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"CREATE TABLE people (id INTEGER, name TEXT)", "CREATE TABLE log (x)", "INSERT INTO people VALUES (7, 'Ada'), (8, NULL)"} {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	env.Databases = pool
	env.Design = &design{Design: transformtest.Design{Resolver: env.Vars, Sem: env.Semantics}, pool: pool, vars: env.Vars}
}

func TestContract(t *testing.T) {
	known := map[string]bool{}
	for _, d := range transforms.Registry().All() {
		known[d.ID] = true
		t.Run(d.ID, func(t *testing.T) { transformtest.Contract(t, d, subjects[d.ID]) })
	}
	for id := range subjects {
		if !known[id] {
			t.Errorf("settings for %s, which is no transform", id)
		}
	}
}
