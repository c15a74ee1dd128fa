calls.tree = () => ({url: location.href, title: document.title, nodes: [], count: 0, frames: [], focused: 0, unsure: []});
