// Rich text and code editors.

import { button, click, css, fill, hover, keys, press, role, text, type, waitFor } from '../steps.mjs';

const WORDS = 'Hello world';
const bold = (selector, expression, more = {}) => ({
  name: 'type, select all, bold',
  steps: [click(css(selector, more)), keys(WORDS), press('Control+a'), click(button(/^Bold/))],
  judge: `/<(strong|b)\\b[^>]*>(<[^>]*>)*${WORDS}/.test(${expression})`,
});

export const pages = [
  {
    name: 'TipTap',
    library: '@tiptap/core',
    html: '<div><button id="bold">Bold</button><button id="list">Bullet list</button></div><div id="editor" style="border:1px solid"></div>',
    js: `import { Editor } from '@tiptap/core'; import StarterKit from '@tiptap/starter-kit';
      window.editor = new Editor({ element: document.getElementById('editor'), extensions: [StarterKit], content: '<p></p>' });
      bold.onclick = () => window.editor.chain().focus().toggleBold().run();
      list.onclick = () => window.editor.chain().focus().toggleBulletList().run();`,
    tasks: [
      bold('.ProseMirror', 'window.editor.getHTML()'),
      {
        name: 'bullet list with two entries',
        steps: [click(css('.ProseMirror')), click(button('Bullet list')), keys('one'), press('Enter'), keys('two')],
        judge: "/<li><p>one<\\/p><\\/li><li><p>two<\\/p><\\/li>/.test(window.editor.getHTML())",
      },
      { name: 'fill', steps: [fill(css('.ProseMirror'), 'Filled')], judge: "window.editor.getText() === 'Filled'" },
      {
        name: 'fill, then bold',
        steps: [fill(css('.ProseMirror'), WORDS), press('Control+a'), press('Control+b')],
        judge: "window.editor.getHTML().includes('<strong>Hello world')",
      },
    ],
  },
  {
    name: 'Slate',
    library: 'slate',
    html: '<div id="root"></div>',
    js: `import { useState } from 'react'; import { createRoot } from 'react-dom/client';
      import { createEditor, Editor } from 'slate'; import { Slate, Editable, withReact } from 'slate-react'; import { withHistory } from 'slate-history';
      const editor = withHistory(withReact(createEditor())); window.editor = editor;
      const Leaf = ({ attributes, children, leaf }) => <span {...attributes}>{leaf.bold ? <strong>{children}</strong> : children}</span>;
      const App = () => <Slate editor={editor} initialValue={[{ type: 'paragraph', children: [{ text: '' }] }]}>
        <button onMouseDown={(event) => { event.preventDefault(); Editor.addMark(editor, 'bold', true); }}>Bold</button>
        <Editable renderLeaf={(given) => <Leaf {...given} />} aria-label="Text" className="body" /></Slate>;
      createRoot(root).render(<App />);`,
    ready: "document.querySelector('.body')",
    tasks: [
      {
        name: 'type, select all, bold',
        steps: [click(css('.body', { role: 'textbox', name: 'Text' })), keys(WORDS), press('Control+a'), click(button('Bold'))],
        judge: "JSON.stringify(window.editor.children).includes('\"text\":\"Hello world\",\"bold\":true')",
      },
      {
        name: 'two paragraphs',
        steps: [click(css('.body', { role: 'textbox', name: 'Text' })), keys('one'), press('Enter'), keys('two')],
        judge: "window.editor.children.map((block) => block.children[0].text).join() === 'one,two'",
      },
      {
        name: 'fill',
        steps: [fill(css('.body', { role: 'textbox', name: 'Text' }), 'Filled')],
        judge: "window.editor.children[0].children[0].text === 'Filled'",
      },
    ],
  },
  {
    name: 'ProseMirror',
    library: 'prosemirror-view',
    css: ['prosemirror-view/style/prosemirror.css', 'prosemirror-menu/style/menu.css', 'prosemirror-example-setup/style/style.css'],
    html: '<div id="editor"></div>',
    js: `import { EditorState } from 'prosemirror-state'; import { EditorView } from 'prosemirror-view'; import { Schema } from 'prosemirror-model';
      import { schema as basic } from 'prosemirror-schema-basic'; import { addListNodes } from 'prosemirror-schema-list'; import { exampleSetup } from 'prosemirror-example-setup';
      const schema = new Schema({ nodes: addListNodes(basic.spec.nodes, 'paragraph block*', 'block'), marks: basic.spec.marks });
      window.view = new EditorView(document.getElementById('editor'), { state: EditorState.create({ schema, plugins: exampleSetup({ schema }) }) });`,
    tasks: [
      {
        name: 'type, select all, bold by the menu',
        steps: [click(css('.ProseMirror')), keys(WORDS), press('Control+a'), click(css('[title="Toggle strong style"]'))],
        judge: "view.dom.innerHTML.includes('<strong>Hello world')",
      },
      {
        name: 'type, select all, bold by the keyboard',
        steps: [click(css('.ProseMirror')), keys(WORDS), press('Control+a'), press('Control+b')],
        judge: "view.dom.innerHTML.includes('<strong>Hello world')",
      },
      {
        name: 'heading by the dropdown menu',
        steps: [click(css('.ProseMirror')), keys('Title'), click(text('Type...')), hover(text('Heading')), click(text('Level 2'))],
        judge: "view.state.doc.firstChild.type.name === 'heading'",
      },
    ],
  },
  {
    name: 'Lexical',
    library: 'lexical',
    html: '<button id="bold">Bold</button><div id="editor" contenteditable="true" role="textbox" aria-label="Text" style="border:1px solid"></div>',
    js: `import { createEditor, FORMAT_TEXT_COMMAND, $getRoot } from 'lexical'; import { registerRichText } from '@lexical/rich-text'; import { registerHistory, createEmptyHistoryState } from '@lexical/history';
      const editor = createEditor({ namespace: 'x', onError: (failure) => { throw failure; } }); editor.setRootElement(document.getElementById('editor'));
      registerRichText(editor); registerHistory(editor, createEmptyHistoryState(), 300); window.lexical = editor;
      window.content = () => editor.getEditorState().read(() => $getRoot().getTextContent());
      bold.onclick = () => editor.dispatchCommand(FORMAT_TEXT_COMMAND, 'bold');`,
    tasks: [
      {
        name: 'type, select all, bold',
        steps: [click(role('textbox', 'Text')), keys(WORDS), press('Control+a'), click(button('Bold'))],
        judge: "/<strong[^>]*>Hello world/.test(document.getElementById('editor').innerHTML)",
      },
      { name: 'fill', steps: [fill(role('textbox', 'Text'), 'Filled')], judge: "content() === 'Filled'" },
      {
        name: 'fill twice',
        steps: [fill(role('textbox', 'Text'), 'First'), fill(role('textbox', 'Text'), 'Second')],
        judge: "content() === 'Second'",
      },
    ],
  },
  {
    name: 'Quill',
    library: 'quill',
    css: ['quill/dist/quill.snow.css'],
    html: '<div id="editor"></div>',
    js: `import Quill from 'quill'; window.quill = new Quill('#editor', { theme: 'snow' });`,
    tasks: [
      {
        name: 'type, select all, bold',
        steps: [click(css('.ql-editor')), keys(WORDS), press('Control+a'), click(css('button.ql-bold', { role: 'button', name: 'bold' }))],
        judge: "quill.getContents().ops[0].attributes?.bold === true && quill.getText() === 'Hello world\\n'",
      },
      {
        name: 'heading by the picker',
        steps: [click(css('.ql-editor')), keys('Title'), click(css('.ql-header .ql-picker-label')), click(css('.ql-header .ql-picker-item[data-value="2"]'))],
        judge: 'quill.getFormat(0).header === 2',
      },
      { name: 'fill', steps: [fill(css('.ql-editor'), 'Filled')], judge: "quill.getText() === 'Filled\\n'" },
    ],
  },
  {
    name: 'CodeMirror',
    library: '@codemirror/view',
    html: '<div id="editor"></div>',
    js: `import { EditorView, basicSetup } from 'codemirror'; import { javascript } from '@codemirror/lang-javascript';
      window.view = new EditorView({ doc: 'let a = 1;\\n', extensions: [basicSetup, javascript()], parent: document.getElementById('editor') });`,
    tasks: [
      {
        name: 'append a line',
        steps: [click(css('.cm-content', { role: 'textbox' })), press('Control+End'), keys('let b = 2;')],
        judge: "view.state.doc.toString() === 'let a = 1;\\nlet b = 2;'",
      },
      {
        name: 'fill',
        steps: [fill(css('.cm-content', { role: 'textbox' }), 'x = 3')],
        judge: "view.state.doc.toString() === 'x = 3'",
      },
      {
        name: 'search panel',
        steps: [click(css('.cm-content', { role: 'textbox' })), press('Control+f'), keys('let'), click(button('all'))],
        judge: 'view.state.selection.ranges.some((range) => range.to - range.from === 3)',
      },
    ],
  },
  {
    name: 'Monaco',
    library: 'monaco-editor',
    html: '<div id="editor" style="height:300px;border:1px solid"></div>',
    head: '<script src="/modules/monaco-editor/min/vs/loader.js"></script>',
    js: `require.config({ paths: { vs: '/modules/monaco-editor/min/vs' } });
      await new Promise((done) => require(['vs/editor/editor.main'], done));
      window.editor = monaco.editor.create(document.getElementById('editor'), { value: 'let a = 1;\\n', language: 'javascript', accessibilitySupport: 'on' });`,
    ready: "document.querySelector('.view-line')",
    tasks: [
      {
        name: 'type into the text box',
        steps: [press('Control+Home', role('textbox', /Editor content/)), press('Control+End'), keys('let b = 2;'), press('Escape')],
        judge: "/let a = 1;\\s+let b = 2;/.test(window.editor.getValue())",
      },
      {
        name: 'click and append a line',
        steps: [click(css('.view-lines', { role: 'code' })), press('Control+End'), keys('let b = 2;'), press('Escape')],
        judge: "/let a = 1;\\s+let b = 2;/.test(window.editor.getValue())",
      },
      {
        name: 'command palette',
        steps: [
          click(css('.view-lines', { role: 'code' })),
          press('Control+a'),
          press('F1'),
          keys('Transform to Upper'),
          click(role('option', /Transform to Uppercase/)),
        ],
        judge: "window.editor.getValue() === 'LET A = 1;\\n'",
      },
    ],
  },
  {
    name: 'TinyMCE',
    library: 'tinymce',
    head: '<script src="/modules/tinymce/tinymce.min.js"></script>',
    html: '<textarea id="area"></textarea>',
    js: `await tinymce.init({ selector: '#area', license_key: 'gpl', base_url: '/modules/tinymce', suffix: '.min', height: 300, plugins: 'lists', toolbar: 'bold italic bullist', promotion: false, menubar: 'format' });`,
    tasks: [
      {
        name: 'type in the frame, select all, bold',
        steps: [click(css('body', { frame: 'iframe', role: 'textbox' })), keys(WORDS), press('Control+a'), click(button('Bold'))],
        judge: "/<strong>Hello world/.test(tinymce.activeEditor.getContent())",
      },
      {
        name: 'fill',
        steps: [fill(css('body', { frame: 'iframe', role: 'textbox' }), 'Filled')],
        judge: "tinymce.activeEditor.getContent({format: 'text'}) === 'Filled'",
      },
      {
        name: 'menu of a menu',
        steps: [click(css('body', { frame: 'iframe', role: 'textbox' })), keys('abc'), press('Control+a'), click(role('menuitem', 'Format')), click(role('menuitem', /^Italic/))],
        judge: "/<em>abc/.test(tinymce.activeEditor.getContent())",
      },
    ],
  },
  {
    name: 'CKEditor 5',
    library: 'ckeditor5',
    css: ['ckeditor5/ckeditor5.css'],
    html: '<div id="editor"><p></p></div>',
    js: `import { ClassicEditor, Essentials, Bold, Italic, Paragraph, Heading } from 'ckeditor5';
      window.editor = await ClassicEditor.create(document.getElementById('editor'), { licenseKey: 'GPL', plugins: [Essentials, Bold, Italic, Paragraph, Heading], toolbar: ['heading', 'bold', 'italic', 'undo'] });`,
    tasks: [
      {
        name: 'type, select all, bold',
        steps: [click(css('.ck-editor__editable', { role: 'textbox' })), keys(WORDS), press('Control+a'), click(button('Bold'))],
        judge: "/<strong>Hello world/.test(window.editor.getData())",
      },
      {
        name: 'heading by the dropdown',
        steps: [click(css('.ck-editor__editable', { role: 'textbox' })), keys('Title'), click(button(/Heading/)), click(css('.ck-heading_heading2', { text: 'Heading 2' }))],
        judge: "/<h3>Title/.test(window.editor.getData())",
      },
      {
        name: 'fill',
        steps: [fill(css('.ck-editor__editable', { role: 'textbox' }), 'Filled')],
        judge: "window.editor.getData() === '<p>Filled</p>'",
      },
    ],
  },
  {
    name: 'Draft.js',
    library: 'draft-js',
    html: '<div id="root"></div>',
    css: ['draft-js/dist/Draft.css'],
    build: { alias: { react: 'react-17', 'react-dom': 'react-dom-17' } },
    js: `import { useState } from 'react'; import ReactDOM from 'react-dom'; import { Editor, EditorState, RichUtils } from 'draft-js';
      const App = () => { const [state, change] = useState(() => EditorState.createEmpty()); window.content = () => state.getCurrentContent(); window.style = () => state.getCurrentContent().getFirstBlock().getInlineStyleAt(0).toArray();
        return <div><button onMouseDown={(event) => { event.preventDefault(); change(RichUtils.toggleInlineStyle(state, 'BOLD')); }}>Bold</button>
        <Editor editorState={state} onChange={change} ariaLabel="Text" handleKeyCommand={(command, now) => { const next = RichUtils.handleKeyCommand(now, command); if (next) { change(next); return 'handled'; } return 'not-handled'; }} /></div>; };
      ReactDOM.render(<App />, root);`,
    tasks: [
      {
        name: 'type, select all, bold',
        steps: [click(role('textbox', 'Text')), keys(WORDS), press('Control+a'), click(button('Bold'))],
        judge: "content().getPlainText() === 'Hello world' && style().includes('BOLD')",
      },
      { name: 'fill', steps: [fill(role('textbox', 'Text'), 'Filled')], judge: "content().getPlainText() === 'Filled'" },
    ],
  },
  {
    name: 'Editor.js',
    library: '@editorjs/editorjs',
    html: '<div id="editor" style="width:700px;margin:auto"></div>',
    js: `import EditorJS from '@editorjs/editorjs'; import Header from '@editorjs/header';
      window.editor = new EditorJS({ holder: 'editor', tools: { header: Header }, autofocus: false }); await window.editor.isReady;
      window.saved = ''; setInterval(async () => { window.saved = JSON.stringify((await window.editor.save()).blocks.map((block) => [block.type, block.data.text])); }, 150);`,
    tasks: [
      {
        name: 'two paragraphs',
        steps: [click(css('.ce-paragraph')), keys('one'), press('Enter'), keys('two')],
        judge: `saved === '[["paragraph","one"],["paragraph","two"]]'`,
      },
      {
        name: 'heading by the toolbox',
        steps: [click(css('.ce-paragraph')), press('/'), click(text('Heading')), keys('Title')],
        judge: `saved.includes('["header","Title"]')`,
      },
    ],
  },
];
