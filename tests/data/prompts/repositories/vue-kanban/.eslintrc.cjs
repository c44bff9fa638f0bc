module.exports = { root: true, extends: ["plugin:vue/vue3-recommended", "@vue/eslint-config-typescript"] };
